import process from 'node:process';
import fc from 'fast-check';

// One seed for all properties, so that a run has the result of the run before; `FUZZ_SEED` draws others.
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 1) });

export { default } from 'fast-check';

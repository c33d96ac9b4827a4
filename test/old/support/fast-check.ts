import process from 'node:process';
import fc from 'fast-check';

// One seed for all properties: a run has the result of the run before. `npm run explore` draws other seeds.
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED ?? 1) });

export { default } from 'fast-check';

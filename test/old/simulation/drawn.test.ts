// Only here: several troubles at once that nobody thought of together.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { expect, test, vi } from 'vitest';
import { type Plan, play } from '../harness/plan.ts';
import { plans } from '../harness/plans.ts';
import fc from '../support/fast-check.ts';
import { root } from '../support/program.ts';

vi.setConfig({ testTimeout: 300_000 });

const FOUND = join(root, 'test/simulation/found');

/** Plans of one run, and how long they are played and made smaller while exploring, in milliseconds. */
const PLANS = 5;
const MAX_MS = 240_000;

test(`in ${PLANS} plans drawn by chance, what is shown is so, and all is well afterwards`, async () => {
  const property = fc.asyncProperty(plans, async (plan) => {
    await play(plan);
  });
  const isExploring = process.env.FUZZ_SEED !== undefined;
  const details = await fc.check(property, {
    numRuns: PLANS,
    ...(isExploring ? { interruptAfterTimeLimit: MAX_MS } : { endOnFailure: true }),
  });
  if (!details.failed) return;
  const [plan] = details.counterexample ?? [];
  if (isExploring && plan !== undefined) {
    const kept = { found: 'One sentence is missing here.', ...plan };
    writeFileSync(join(FOUND, `seed-${details.seed}.json`), `${JSON.stringify(kept, undefined, 2)}\n`);
  }
  expect.fail(`${fc.defaultReportMessage(details)}\n${String(details.errorInstance)}`);
});

test('one plan played twice gives the same requests, log and last page', async () => {
  const plan: Plan = {
    setup: { appliances: 3, gfa: true, state: true },
    events: [
      { at: '20m', lasts: '15m', do: 'fault', of: 'telemetry', effect: 'unavailable' },
      { at: '40m', do: 'restart', how: 'killed', away: '2m' },
    ],
    quiet: '60m',
  };
  const once = async () => {
    const { services, log, last } = await play(plan);
    return {
      requests: services.requests.map(({ at, path }) => `${at} ${path}`),
      log: log.map(({ time, port, ...line }) => ({ ...line, msg: line.msg.replace(/:\d+$/, '') })),
      last: last.replaceAll(/^(?:process|nodejs)_.*\n/gm, ''),
    };
  };
  expect(await once()).toEqual(await once());
});

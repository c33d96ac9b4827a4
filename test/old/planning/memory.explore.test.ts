import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { run, start } from '../support/program.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { until } from '../support/until.ts';
import { figure } from './figure.ts';

/*
 * What --plan says of memory beside what a process takes at its peak, with everything switched on. How much garbage a process
 * lets lie depends on the machine and what else it does, so this runs in `npm run explore` and not in the gate.
 */

const EVERYTHING = { PORTAL_SERIES: 'all', PORTAL_COLLECTORS: 'all', PORTAL_INTERVAL: '60s' };
const NO_LIMITS = { PORTAL_RATE_LIMIT: '100000/1s', PORTAL_DAILY_LIMIT: '0' };

const SWEPT = /^filer_exporter_sweep_duration_seconds\{api="portal"\}/m;

/** Where so long brings less than a hundredth more, everything has been asked for. */
const BETWEEN_LOOKS_MS = 5_000;

const samplesIn = (text: string) => Number(/^filer_exporter_samples (\d+)$/m.exec(text)?.[1]);

test.runIf(existsSync('/proc/self/status')).sequential.each([10, 100, 500])(
  'with %d appliances and everything switched on, memory and samples are within a fifth of what --plan says',
  async (appliances) => {
    const variations = { rateLimit: null, dailyLimit: null };
    const mocks = await startMockServices({ clock: systemClock, appliances, volumes: 5, variations });
    onTestFinished(() => mocks.close());
    const environment = { ...gfaEnvironment(mocks), ...portalEnvironment(mocks), ...EVERYTHING, ...NO_LIMITS };
    const { stdout } = await run(['--plan', '--appliances', `${appliances}`], { environment });

    const program = start([], { environment });
    const address = await program.serving();
    let samples = 0;
    await until(
      'the first sweep to be over',
      async () => {
        await sleep(BETWEEN_LOOKS_MS);
        const before = samples;
        const text = await (await fetch(`${address}/metrics`)).text();
        samples = samplesIn(text);
        return SWEPT.test(text) && samples < before * 1.01;
      },
      240_000,
    );
    const peakKiB = Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${program.child.pid}/status`, 'utf8'))?.[1]);

    const found = { samples: figure(stdout, 'Samples') / samples, memory: figure(stdout, 'Memory') / (peakKiB * 1024) };
    for (const share of Object.values(found)) {
      expect(share, JSON.stringify({ ...found, samples, peakKiB })).toBeGreaterThan(0.8);
      expect(share, JSON.stringify({ ...found, samples, peakKiB })).toBeLessThan(1.2);
    }
  },
  300_000,
);

import { describe, expect, test } from 'vitest';
import { createApp } from '../../src/app/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import { demoEnvironment } from '../../src/demo/demo.ts';
import { startStandIn, type Variations } from '../../src/demo/stand-in.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { upstreams } from '../../src/sources/upstreams.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';

/** On the wall it is always noon, so that the services say the same whenever they are asked; what waits moves on. */
const moving = new ManualClock();
const noon: Clock = {
  now: () => Date.UTC(2026, 2, 2, 12),
  monotonic: () => moving.monotonic(),
  sleep: (ms, signal) => moving.sleep(ms, signal),
};

/** What comes of it while time moves on. */
async function inTime<Result>(asked: Promise<Result>): Promise<Result> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  asked.then(over, over);
  while (!isOver) await moving.advance(100);
  return asked;
}

/** The samples of upstream data that the exporter makes of a stand-in, by line name and labels. */
async function samplesOf(variations: Partial<Variations>): Promise<ReadonlyMap<string, number>> {
  const standIn = await startStandIn({ clock: noon, variations });
  const config = loadConfig({
    environment: { ...demoEnvironment({}, standIn), PORTAL_SERIES: 'all', PORTAL_COLLECTORS: 'telemetry' },
    readFile: () => {
      throw Object.assign(new Error('no files here'), { code: 'ENOENT' });
    },
    services: upstreams.map(({ section }) => section),
  });
  const log = createLog('silent', process.stderr);
  const app = createApp(config, {
    ...{
      clock: noon,
      random: seededRandom(1),
      connect: () => new MemoryDispatcher(standIn.serve),
      log,
      version: '0.0.0',
      revision: 'test',
      nodeVersion: process.version,
    },
  });
  try {
    const { exposition } = await inTime(app.once(new AbortController().signal));
    const lines = exposition.toString('utf8').split('\n');
    return new Map(
      lines.flatMap((line) => {
        const [, series = '', value = ''] =
          /^((?:filer_appliance|filer_exporter_upstream_variant)_\S.*) (\S+)$/.exec(line) ?? [];
        return series === '' ? [] : [[series, Number(value)] as const];
      }),
    );
  } finally {
    await inTime(app.stop());
    await standIn.close();
  }
}

describe('an account that uses other units than documented', () => {
  test.for<Partial<Variations>>([
    { ratioUnit: 'ratio' },
    { memoryUnit: 'bytes' },
    { timeUnit: 'seconds' },
    { latencyUnit: 'seconds' },
    { ratioUnit: 'ratio', memoryUnit: 'bytes', timeUnit: 'seconds', latencyUnit: 'seconds', decimals: 'number' },
  ])('%o gives the same samples', async (variations) => {
    const [usual, other] = [await samplesOf({}), await samplesOf(variations)];
    expect(usual.size).toBeGreaterThan(300);
    const isData = (series: string) => series.startsWith('filer_appliance_');
    expect(new Set([...other.keys()].filter(isData))).toEqual(new Set([...usual.keys()].filter(isData)));
    const told = (question: string, answer: string) =>
      other.get(`filer_exporter_upstream_variant_info{api="portal",question="${question}",answer="${answer}"}`);
    expect(told('ratio_unit', variations.ratioUnit ?? 'percent')).toBe(1);
    expect(told('time_unit', variations.timeUnit ?? 'milliseconds')).toBe(1);
    const apart = [...usual]
      .filter(([series]) => isData(series))
      .filter(([series, value]) => {
        const seen = other.get(series) ?? Number.NaN;
        // Two decimals of a percentage are not four of a ratio.
        return !(Math.abs(seen - value) <= 0.02 * Math.abs(value) + 1e-5);
      });
    expect(apart).toEqual([]);
  });
});

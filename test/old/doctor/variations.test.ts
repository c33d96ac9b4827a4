import { describe, expect, test } from 'vitest';
import { demoEnvironment } from '../../src/demo/demo.ts';
import { startMockServices, type Variations } from '../../src/demo/mock-services.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { createLog } from '../../src/runtime/log.ts';
import { assemble } from '../support/assemble.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { visit } from './simulated-visit.ts';

/** On the wall it is always noon, so that the services say the same whenever they are asked; what waits moves on. */
function noonBy(moving: ManualClock): Clock {
  return {
    now: () => Date.UTC(2026, 2, 2, 12),
    monotonic: () => moving.monotonic(),
    sleep: (ms, signal) => moving.sleep(ms, signal),
  };
}

/** The samples of upstream data that the exporter makes of the mock services, by line name and labels. */
async function samplesOf(variations: Partial<Variations>, units?: string): Promise<ReadonlyMap<string, number>> {
  const moving = new ManualClock();
  const noon = noonBy(moving);
  const mocks = await startMockServices({ clock: noon, appliances: 4, volumes: 1, variations });
  const variables = {
    ...demoEnvironment({}, mocks),
    PORTAL_SERIES: 'all',
    PORTAL_COLLECTORS: 'telemetry',
    ...(units === undefined ? {} : { PORTAL_UNITS: units }),
  };
  const log = createLog('silent', process.stderr);
  const app = assemble(variables, { clock: noon, log, connect: () => new MemoryDispatcher(mocks.serve) });
  try {
    const { exposition } = await moving.through(app.once(new AbortController().signal), 100);
    const lines = exposition.toString('utf8').split('\n');
    return new Map(
      lines.flatMap((line) => {
        const [, series = '', value = ''] = /^(filer_(?!exporter_)\S.*) (\S+)$/.exec(line) ?? [];
        return series === '' ? [] : [[series, Number(value)] as const];
      }),
    );
  } finally {
    await moving.through(app.stop(), 100);
    await mocks.close();
  }
}

let documented: Promise<ReadonlyMap<string, number>> | undefined;

/** The samples of an account that sends what is documented. */
function usualSamples() {
  documented ??= samplesOf({});
  return documented;
}

const isData = (series: string) => series.startsWith('filer_appliance_');

/** The data of two expositions that differs by more than rounding: two decimals of a percentage are not four of a ratio. */
function apart(one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>): readonly string[] {
  expect(new Set([...other.keys()].filter(isData))).toEqual(new Set([...one.keys()].filter(isData)));
  return [...one.keys()].filter(isData).filter((series) => {
    const [wanted, seen] = [one.get(series) ?? 0, other.get(series) ?? Number.NaN];
    return !(Math.abs(seen - wanted) <= 0.02 * Math.abs(wanted) + 1e-5);
  });
}

describe('an account that uses another unit than documented', () => {
  test.for<[variations: Partial<Variations>, units: string | undefined, family: RegExp | undefined]>([
    [{ ratioUnit: 'ratio' }, 'ratio', /_ratio\{/],
    [{ memoryUnit: 'bytes' }, 'memory_bytes', /_memory_(?:detail_|total_)?bytes\{/],
    [{ timeUnit: 'seconds' }, undefined, undefined],
    [{ latencyUnit: 'seconds' }, 'latency_seconds', /_io_latency_seconds\{/],
    [{ counts: 'second' }, 'requests_per_second', /_cache_requests\{/],
    [
      { ratioUnit: 'ratio', memoryUnit: 'bytes', timeUnit: 'seconds', latencyUnit: 'seconds', decimals: 'number' },
      'ratio,memory_bytes,latency_seconds',
      /_ratio\{|_io_latency_seconds\{|_memory_(?:detail_|total_)?bytes\{/,
    ],
  ])(
    '%o gives the same samples with PORTAL_UNITS=%s, and without it the documented reading',
    async ([variations, units, family]) => {
      const usual = await usualSamples();
      expect(usual.size).toBeGreaterThan(100);
      const rounded = (series: string) => !(variations.counts === 'second' && series.includes('_cache_requests'));
      expect(apart(usual, await samplesOf(variations, units)).filter(rounded)).toEqual([]);
      const differing = apart(usual, await samplesOf(variations));
      expect(differing.filter((series) => !family?.test(series))).toEqual([]);
      if (family !== undefined) expect(differing.length).toBeGreaterThan(3);
    },
  );

  test.for<[variations: Partial<Variations>, question: string, advice: string]>([
    [{ ratioUnit: 'ratio' }, 'ratio_unit', 'set PORTAL_UNITS=ratio'],
    [{ memoryUnit: 'bytes' }, 'memory_unit', 'set PORTAL_UNITS=memory_bytes'],
    [{ latencyUnit: 'seconds' }, 'latency_unit', 'set PORTAL_UNITS=latency_seconds'],
    [{ counts: 'second' }, 'counts', 'set PORTAL_UNITS=requests_per_second'],
  ])(
    '%o is a finding of the doctor that names the variable, and none with it',
    async ([variations, question, advice]) => {
      const findings = async (environment: Readonly<Record<string, string>>) =>
        (await visit({ variations, environment })).found.findings.filter(({ level }) => level !== 'ok');
      expect(await findings({})).toMatchObject([{ level: 'warning', check: question, advice }]);
      const [, name = '', value = ''] = /(PORTAL_UNITS)=(\S+)/.exec(advice) ?? [];
      expect(await findings({ [name]: value })).toEqual([]);
    },
  );

  test('a unit that the account does not use is a finding too', async () => {
    const { found } = await visit({ environment: { PORTAL_UNITS: 'ratio,memory_bytes' } });
    expect(found.findings.filter(({ level }) => level !== 'ok')).toMatchObject([
      { check: 'ratio_unit', code: 'percent', advice: 'unset PORTAL_UNITS' },
      { check: 'memory_unit', code: 'kilobytes', advice: 'unset PORTAL_UNITS' },
    ]);
  });
});

test('no number of the demo is longer than it was sent', async () => {
  const numbers = [...(await usualSamples())].filter(([, value]) => /\.\d{10,}/.test(String(value)));
  expect(numbers).toEqual([]);
});

import { describe, expect, test } from 'vitest';
import { sentences } from '../../../../src/contract/causes.ts';
import type { Bin } from '../../../../src/contract/minutes.ts';
import type { JsonObject } from '../../../../src/metrics/family.ts';
import type { Sample } from '../../../../src/metrics/samples.ts';
import { ADDITIONAL_SERIES, STANDARD_SERIES } from '../../../../src/services/portal/appliances/series-operations.ts';
import type { UnitName } from '../../../../src/services/portal/appliances/units.ts';
import type { PortalClient } from '../../../../src/services/portal/client.ts';
import { PortalCollector } from '../../../../src/services/portal/collector.ts';
import { valuesOf } from '../../../support/exposition-lines.ts';
import fc from '../../../support/fast-check.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { going, noLog } from '../../../support/mock-api.ts';
import { portalOptions, uuid } from '../../../support/portal-parts.ts';

const NOW = Date.UTC(2026, 2, 2, 10);
const MINUTE_MS = 60_000;
const SERIES = [...STANDARD_SERIES, ...ADDITIONAL_SERIES];

/** The answers of an appliance, by series. */
type Answers = Readonly<Record<string, unknown>>;

/** A collector of a fleet that answers this, by serial. */
function collectorOf(fleet: Readonly<Record<string, Answers>>, units: readonly UnitName[] = []) {
  const client = {
    now: () => NOW,
    async send({ path }: { readonly path: string }) {
      const [serial = '', series = ''] = path.split('/').slice(-2);
      return fleet[serial]?.[series] ?? { items: [] };
    },
  } as unknown as PortalClient;
  const series = SERIES.map((name) => ({ name, intervalMs: 300_000 }));
  const settings = portalOptions({ serials: Object.keys(fleet), series, units });
  return new PortalCollector(client, settings, { clock: new ManualClock(NOW), log: noLog });
}

/** The samples of one appliance, its points for remote write, and its past for a backfill. */
async function shownOf(serial: string, collector: PortalCollector) {
  const all: Sample[][] = [];
  for (const task of collector.tasks()) {
    if (task.appliance === undefined) continue;
    const [start, to] = [NOW - 840_000, NOW + MINUTE_MS];
    const { samples, minutes = [] } = await task.poll(going, { start, from: start, to });
    const past = await task.readHistory?.(NOW - 3_600_000, NOW, going);
    const valuesIn = (bins: Iterable<Bin>) => [...bins].flatMap((bin) => bin.samples(() => {}));
    if (task.appliance.serial === serial) all.push([...samples], valuesIn(minutes), valuesIn(past?.bins ?? []));
  }
  return all;
}

/** A quarter of an hour of one record, the newest last. */
function minutes(record: JsonObject) {
  const times = Array.from({ length: 15 }, (_, index) => NOW - (20 - index) * MINUTE_MS);
  return { items: times.map((time) => ({ time, ...record })) };
}

const [A, B] = [uuid(0xa), uuid(0xb)];
const fastDisk = { cache_disk_io_latency: minutes({ read_latency: '0.012', write_latency: '0.015' }) };

async function valuesWith(answers: Answers, units: readonly UnitName[] = [], series?: string) {
  const collector = collectorOf({ [A]: answers }, units);
  const samples = (await shownOf(A, collector)).flat();
  const named = Object.entries(valuesOf(samples)).filter(([name]) => series === undefined || name.includes(series));
  return named.filter(([name]) => !name.includes('timestamp')).map(([, value]) => value);
}

describe('the units of telemetry', () => {
  test('are as documented however large a value is: no record is read in another unit than the one beside it', async () => {
    for (const total of [3 * 2 ** 30, 3 * 2 ** 30 + 1]) {
      const answers = { memory_utilization_details: minutes({ total: String(total) }) };
      expect(await valuesWith(answers, [], 'total')).toEqual([total * 1024]);
    }
  });

  test.each<[UnitName, Answers, readonly number[]]>([
    ['ratio', { cpu_utilization: minutes({ cpu_usage: '0.0773' }) }, [0.0773]],
    ['memory_bytes', { memory_utilization: minutes({ memory_used: '1048576' }) }, [1_048_576]],
    ['latency_seconds', { cache_disk_io_latency: minutes({ read_latency: '0.0042' }) }, [0.0042]],
    ['requests_per_second', { cache_hits_misses: minutes({ cache_reads: 2 }) }, [120]],
  ])('PORTAL_UNITS=%s reads them so, for the page, remote write and a backfill', async (unit, answers, values) => {
    for (const samples of await shownOf(A, collectorOf({ [A]: answers }, [unit]))) {
      const told = samples.filter(({ name }) => !name.includes('timestamp'));
      if (told.length > 0) expect([...new Set(told.map(({ value }) => value))]).toEqual(values);
    }
    expect(await valuesWith(answers, [unit])).toEqual(values);
  });
});

describe('a time ahead', () => {
  test('counts as that of the answer, also for the newest record of the appliance', async () => {
    const items = [{ time: NOW + 86_400_000, cpu_usage: '12' }];
    const tasks = collectorOf({ [A]: { cpu_utilization: { items } } }).tasks();
    const task = [...tasks].find(({ operation }) => operation === 'cpu_utilization');
    const { samples } = (await task?.poll(going)) ?? { samples: [] };
    expect(Array.from(samples, ({ value, at }) => [value, at])).toEqual([
      [0.12, NOW / 1000],
      [NOW / 1000, undefined],
    ]);
  });
});

describe('what looks like another unit', () => {
  const ratio = {
    memory_utilization_details: minutes({ total: '32000000', available: '20000000', utilization: '0.375' }),
  };

  test('is told in one warning with the variable, and read as documented', async () => {
    const collector = collectorOf({ [A]: { ...ratio, ...fastDisk }, [B]: { ...ratio, ...fastDisk } });
    const values = valuesOf((await shownOf(A, collector)).flat());
    expect(Object.values(values)).toEqual(expect.arrayContaining([0.00375, 0.000012]));
    const told = collector.warnings.map(sentences);
    expect(told).toEqual([
      expect.stringContaining('100 times too small'),
      expect.stringContaining('Set PORTAL_UNITS=ratio,latency_seconds'),
    ]);
  });

  test('is no variant until it is proven or configured', async () => {
    const collector = collectorOf({ [A]: { ...ratio, ...fastDisk } });
    await shownOf(A, collector);
    expect(collector.context.unitDetector.variants).toEqual(
      expect.arrayContaining([{ question: 'ratio_unit', answer: 'ratio' }]),
    );
    expect(collector.context.unitDetector.variants.map(({ question }) => question)).not.toContain('latency_unit');
    expect(collectorOf({}, ['latency_seconds']).context.unitDetector.variants).toEqual([
      { question: 'latency_unit', answer: 'seconds' },
    ]);
  });

  test('is no advice of the doctor where another disk shows the documented one', async () => {
    const usual = { cow_disk_io_latency: minutes({ read_latency: '160', write_latency: '4.35' }) };
    const collector = collectorOf({ [A]: { ...fastDisk, ...usual } });
    await shownOf(A, collector);
    expect(collector.context.unitDetector.answers([])).toContainEqual({
      question: 'latency_unit',
      answer: 'milliseconds',
    });
  });
});

test('a series that is answered ends the note that the licence lacks it', async () => {
  const collector = collectorOf({ [A]: fastDisk });
  collector.context.licence.hasTelemetry = false;
  const codes = () => collector.warnings.map(({ code }) => code);
  expect(codes()).toEqual(['licence']);
  await shownOf(A, collector);
  expect(codes()).not.toContain('licence');
});

const number = fc.oneof(
  fc.constantFrom(
    ...['0', '0.004', '0.4', '0.012', '12', '160', '412.5', '-1', '1e12', '34359738368', 'high', null, undefined],
  ),
  fc.double({ min: 0, max: 1e6, noNaN: true }),
);
const FIELDS = ['cpu_usage', 'cache_utilization', 'read_latency', 'write_latency', 'total', 'available', 'utilization'];
const time = fc.constantFrom(
  NOW - 6 * MINUTE_MS,
  (NOW - 6 * MINUTE_MS) / 1000,
  NOW - 7 * MINUTE_MS,
  NOW + 86_400_000,
  0,
);
const record = fc.record({ time, ...Object.fromEntries(FIELDS.map((field) => [field, number])) });
const series = fc.constantFrom(
  'cpu_utilization',
  'cache_utilization',
  'cache_disk_io_latency',
  'memory_utilization_details',
);
const answers = fc.dictionary(series, fc.record({ items: fc.array(record, { maxLength: 12 }) }));
const others = fc.array(answers, { maxLength: 4 });

test('two fleets that share an appliance give the same samples for it, whatever the others answer, before it or after', async () => {
  await fc.assert(
    fc.asyncProperty(answers, others, others, async (own, before, after) => {
      const named = (list: readonly Answers[], from: number) =>
        Object.fromEntries(list.map((one, index) => [uuid(from + index), one]));
      const alone = await shownOf(A, collectorOf({ [A]: own }));
      const among = await shownOf(A, collectorOf({ ...named(before, 100), [A]: own, ...named(after, 200) }));
      expect(among).toEqual(alone);
    }),
    { numRuns: 60 },
  );
});

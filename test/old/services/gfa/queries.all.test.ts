import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatLabels } from '../../../src/exposition/format.ts';
import type { JsonObject } from '../../../src/metrics/family.ts';
import { parseDecimal } from '../../../src/metrics/units.ts';
import { newLedger, take } from '../../support/gfa-answers.ts';
import { gfaService, timesOf } from '../../support/gfa-service.ts';
import { hasPrometheus, runPrometheus } from '../../support/prometheus.ts';

/** A real Prometheus with a past of its own. */
interface PastPrometheus {
  /** What a query gives at a moment in Unix seconds: the value of each series, by its labels as JSON. */
  query(text: string, at: number): Promise<ReadonlyMap<string, number>>;
  close(): void;
}

/** Starts one that scrapes nothing and has an OpenMetrics text with timestamps as its past. */
async function prometheusWith(openMetrics: string): Promise<PastPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-prometheus-'));
  const past = join(folder, 'past.om');
  writeFileSync(past, openMetrics);
  const blocks = ['tsdb', 'create-blocks-from', 'openmetrics', past, join(folder, 'data')];
  execFileSync('promtool', blocks, { stdio: 'ignore' });
  const { child, query } = await runPrometheus(folder, 'scrape_configs: []\n', '--storage.tsdb.retention.time=100y');
  return {
    query: async (text, at) =>
      new Map((await query(text, at)).map(({ metric, value }) => [JSON.stringify(metric), Number(value[1])])),
    close: () => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const MINUTE_MS = 60_000;
const BEGUN = Date.UTC(2026, 2, 2, 10);
const HOURS = 3;
const END = BEGUN + HOURS * 60 * MINUTE_MS;
/** What a rate over an hour sees: the polls after its first one. */
const HOUR = 3_600;

const page = readFileSync(new URL('../../../docs/events.md', import.meta.url), 'utf8');

/** The query that stands below a sentence of docs/events.md, wherever its lines break. */
function documented(sentence: string): string {
  const [, after = ''] = page.split(new RegExp(sentence.replaceAll(' ', String.raw`\s`)));
  const [, query] = /```promql\n([\s\S]*?)```/.exec(after) ?? [];
  if (query === undefined) throw new Error(`docs/events.md has no query below "${sentence}"`);
  return query.trim();
}

const service = gfaService(BEGUN, { dataProtected: true });

/** What the exporter exposes of the demo's events over three hours, polled and scraped once a minute. */
function exposedPast(): string {
  const bounds = [10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 86_400];
  const ledger = newLedger({ bounds, goneAfterMs: 3 * MINUTE_MS });
  const families = new Map<string, { type: string; series: Map<string, string[]> }>();
  for (let now = BEGUN; now <= END; now += MINUTE_MS) {
    take(ledger, service.ask('ours', now), now - BEGUN);
    for (const { name, labels, value } of ledger.samples()) {
      const isHistogram = /_(?:bucket|sum|count)$/.test(name);
      if (!isHistogram && !name.endsWith('_total')) continue;
      const family = isHistogram ? name.replace(/_(?:bucket|sum|count)$/, '') : name.replace(/_total$/, '');
      const held = families.get(family) ?? { type: isHistogram ? 'histogram' : 'counter', series: new Map() };
      families.set(family, held);
      const series = `${name}${formatLabels(labels, { cut: 0, duplicates: 0 })}`;
      const lines = held.series.get(series) ?? [];
      held.series.set(series, lines);
      lines.push(`${series} ${value} ${now / 1000}`);
    }
  }
  const blocks = [...families].map(([name, { type, series }]) => {
    return `# TYPE ${name} ${type}\n${[...series.values()].flat().join('\n')}\n`;
  });
  return `${blocks.join('')}# EOF\n`;
}

/** The events that the service heard of in the last so many seconds, by a label of theirs. */
function lately(
  group: 'locks' | 'propagation',
  seconds: number,
  by: (record: JsonObject) => string,
): Map<string, JsonObject[]> {
  const records = service.history(END).groups[group];
  const times = timesOf(records);
  const groups = new Map<string, JsonObject[]>();
  for (const [index, record] of records.entries()) {
    if ((times[index] ?? 0) < END / 1000 - seconds) continue;
    groups.set(by(record), [...(groups.get(by(record)) ?? []), record]);
  }
  return groups;
}

const numbers = (records: readonly JsonObject[], field: string) =>
  records.flatMap((record) => parseDecimal(record[field]) ?? []);
const labelsOf = (series: string) => JSON.parse(series) as Readonly<Record<string, string>>;

// Where .ci/run asks for the binaries of Prometheus, a machine without them fails instead of skipping.
describe.skipIf(!hasPrometheus && process.env.REQUIRE_PROMETHEUS !== '1')('on a real Prometheus over the demo', () => {
  let prometheus: PastPrometheus;
  beforeAll(async () => {
    prometheus = await prometheusWith(exposedPast());
  });
  afterAll(() => prometheus?.close());

  test('the median propagation time by volume is in the bucket of the true one, or beside it', async () => {
    const found = await prometheus.query(documented('Median propagation time by volume'), END / 1000);
    const truth = lately('propagation', HOUR, ({ volume_guid, kind }) => `${volume_guid} ${kind}`);
    expect(found.size).toBe(truth.size);
    expect(found.size).toBeGreaterThanOrEqual(8);
    for (const [series, median] of found) {
      const { volume_guid, kind } = labelsOf(series);
      const sorted = numbers(truth.get(`${volume_guid} ${kind}`) ?? [], 'prop_seconds').toSorted((a, b) => a - b);
      const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
      expect(median).toBeGreaterThan(at(0.3) / 2.5);
      expect(median).toBeLessThan(at(0.7) * 2.5);
    }
  });

  test('the share of time that a volume’s lock was held is what its releases say', async () => {
    const found = await prometheus.query(documented('Share of time that the lock of a volume was held'), END / 1000);
    const truth = lately('locks', HOUR, ({ volume_guid }) => String(volume_guid));
    expect(found.size).toBe(truth.size);
    for (const [series, share] of found) {
      const held = numbers(truth.get(labelsOf(series).volume_guid ?? '') ?? [], 'lock_duration');
      const expected = held.reduce((sum, seconds) => sum + seconds, 0) / HOUR;
      expect(share).toBeGreaterThan(0);
      expect(Math.abs(share - expected)).toBeLessThan(0.25 * expected + 0.02);
    }
  });

  test('the time between two releases is about ten minutes, as in the demo’s world', async () => {
    const found = await prometheus.query(documented('Mean seconds between two releases'), END / 1000);
    expect(found.size).toBeGreaterThan(10);
    for (const seconds of found.values()) {
      expect(seconds).toBeGreaterThan(500);
      expect(seconds).toBeLessThan(750);
    }
  });

  test('subtracting counters takes a series that was not there as zero', async () => {
    const query = documented('subtract counters and count a missing series as').replace('offset 1d', 'offset 1h');
    const found = await prometheus.query(query, END / 1000);
    const truth = lately('locks', HOUR, () => 'all').get('all')?.length ?? 0;
    const counted = [...found.values()].reduce((sum, count) => sum + count, 0);
    expect(Math.abs(counted - truth)).toBeLessThan(0.05 * truth + 5);
  });
});

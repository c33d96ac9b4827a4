import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { upstreamCatalog } from '../catalog.ts';
import { formatDuration } from '../config/duration.ts';
import { LineStore } from '../exposition/store.ts';
import { addedLabels, fieldNames, isEveryOtherField } from '../metrics/family.ts';
import type { Sample } from '../metrics/samples.ts';
import { seededRandom } from '../runtime/random.ts';
import { operationsFor } from '../sources/portal/appliances/operations.ts';
import { collectorRows } from '../sources/portal/collectors.ts';
import type { PortalConfig, PortalMode } from '../sources/portal/configuration.ts';
import { Budget } from '../transport/rate/budget.ts';
import { type Plan, planFor } from './plan.ts';

/** What an empty process takes, and what each byte of the exposition adds, parsing and packing included: measured at 500 appliances. */
const MEMORY = { emptyBytes: 80e6, perExpositionByte: 5 } as const;

/** Appliances written out to know their size; more are counted as many times. */
const SAMPLED_APPLIANCES = 50;

/** What one of so many shards may take of the account's limits: they know nothing of each other. */
export function shareOf(portal: PortalConfig, shards: number): Pick<PortalConfig, 'rateLimit' | 'dailyLimit'> {
  const share = (limit: number) => Math.max(1, Math.floor(limit / shards));
  const { rateLimit, dailyLimit } = portal;
  return {
    rateLimit: { ...rateLimit, requests: share(rateLimit.requests) },
    dailyLimit: dailyLimit === undefined ? undefined : share(dailyLimit),
  };
}

/** What one collector asks for in a round. */
export interface CollectorDemand {
  readonly name: string;
  readonly requests: number;
  readonly intervalMs: number;
}

/** What the collectors beside the series ask for, as shard 0 does it: the others leave the whole account to that one. */
export function collectorDemands(
  { collectors }: Pick<PortalConfig, 'collectors'>,
  appliances: number,
  volumes: number,
): readonly CollectorDemand[] {
  return collectors.flatMap(({ name, intervalMs }) => {
    const cost = collectorRows.find((row) => row.name === name)?.cost;
    if (cost === undefined) return [];
    const requests = cost.account + cost.perAppliance * appliances + cost.perVolume * volumes;
    return [{ name, requests, intervalMs }];
  });
}

/** The plan for one of so many shards that polls so many appliances, and the snapshots of so many volumes. */
export function planOf(portal: PortalConfig, appliances: number, shards: number, volumes = 0): Plan {
  const plan = planInMode(portal, portal.mode, appliances, shards, volumes);
  if (plan.fits || portal.mode === 'economy') return plan;
  const economy = planInMode(portal, 'economy', appliances, shards, volumes);
  if (economy.effectiveIntervalMs >= plan.effectiveIntervalMs) return plan;
  const often = formatDuration(portal.intervalMs);
  const gain = economy.fits
    ? `CPU, load, cores and uptime every ${often}, the other series every ${formatDuration(portal.fullIntervalMs)}`
    : `it does not fit either, but data would be polled every ${duration(economy.effectiveIntervalMs)}`;
  return { ...plan, advice: [`PORTAL_MODE=economy: ${gain}`, ...plan.advice] };
}

/** The plan for a mode, be it the one that is set or the other. */
function planInMode(portal: PortalConfig, mode: PortalMode, appliances: number, shards: number, volumes: number): Plan {
  const { rateLimit, dailyLimit } = shareOf(portal, shards);
  const budget = new Budget(dailyLimit, 0);
  return planFor({
    ...portal,
    series: portal.seriesByMode[mode],
    appliances,
    further: collectorDemands(portal, appliances, volumes),
    limit: rateLimit,
    dailyLimit,
    allowedPerSecond: Math.min((rateLimit.requests / rateLimit.windowMs) * 1000, budget.perSecond),
  });
}

/** Both modes beside each other; nothing where no series are polled. */
function modesText(portal: PortalConfig, appliances: number, shards: number): string {
  if (portal.series.length === 0) return '';
  const modes = (['full', 'economy'] as const).map((mode) => {
    const plan = planInMode(portal, mode, appliances, shards, 0);
    const stretched = plan.effectiveIntervalMs / portal.intervalMs;
    const seldomMs = mode === 'full' ? portal.intervalMs : portal.fullIntervalMs;
    return [
      mode === portal.mode ? `${mode} (as set)` : mode,
      `every ${duration(plan.effectiveIntervalMs)}`,
      `every ${duration(seldomMs * stretched)}`,
      count(plan.requestsPerDay),
      plan.fits ? 'yes' : 'no',
    ];
  });
  const labels = ['PORTAL_MODE', 'CPU, load and cores', 'Other series', 'Requests a day', 'Fits'];
  const columns = [labels, ...modes].map((cells) => {
    const width = Math.max(...cells.map((cell) => cell.length));
    return cells.map((cell) => cell.padEnd(width));
  });
  const lines = labels.map((_, row) => columns.map((cells) => cells[row]).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n\n`;
}

/** The text of `--plan`: requests against the limits, then samples, bytes and memory. */
export async function planText(portal: PortalConfig, appliances: number, shards: number): Promise<string> {
  const plan = planOf(portal, appliances, shards);
  const { rateLimit, dailyLimit } = shareOf(portal, shards);
  const size = await sizeOf(portal, appliances);
  const rows: readonly (readonly [string, string])[] = [
    ['Appliances', count(appliances)],
    ['Series', `${portal.series.length} of each`],
    ...collectorDemands(portal, appliances, 0).map(({ name, requests, intervalMs }): readonly [string, string] => [
      `Collector ${name}`,
      name === 'volume_telemetry'
        ? `3 requests for each volume every ${duration(intervalMs)}, not counted here`
        : `${count(requests)} requests every ${duration(intervalMs)}`,
    ]),
    ['Requests a sweep', count(plan.requestsPerSweep)],
    ['Requests a second', plan.requestsPerSecond.toFixed(2)],
    ['Requests a day', count(plan.requestsPerDay)],
    [
      'Share of the burst limit',
      `${share(plan.burstShare)} of ${rateLimit.requests} in ${formatDuration(rateLimit.windowMs)}`,
    ],
    [
      'Share of the day’s limit',
      plan.dayShare === undefined || dailyLimit === undefined
        ? 'no daily limit'
        : `${share(plan.dayShare)} of ${count(dailyLimit)}`,
    ],
    ['Shortest sweep', duration(plan.sweepMs)],
    ['Interval asked for', duration(portal.intervalMs)],
    ['Interval as the limits allow', duration(plan.effectiveIntervalMs)],
    ['Worst age of data', duration(plan.worstAgeMs)],
    ['Samples', `about ${count(size.samples)}`],
    ['Bytes a scrape', `about ${megabytes(size.bytes)} plain, ${megabytes(size.packed)} gzip`],
    ['Memory', `about ${megabytes(MEMORY.emptyBytes + MEMORY.perExpositionByte * size.bytes)}`],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const table = rows.map(([label, text]) => `${label.padEnd(width)}  ${text}`).join('\n');
  const verdict = plan.fits
    ? 'It fits.'
    : `It does not fit: data would be polled every ${duration(plan.effectiveIntervalMs)}. What would help, each alone:\n${plan.advice
        .map((line) => `  - ${line}`)
        .join('\n')}`;
  return `${table}\n\n${modesText(portal, appliances, shards)}${verdict}\n`;
}

interface Size {
  readonly samples: number;
  readonly bytes: number;
  readonly packed: number;
}

/** Writes the series of some appliances as they would be, and scales it up. */
async function sizeOf(portal: PortalConfig, appliances: number): Promise<Size> {
  const store = new LineStore(upstreamCatalog);
  const written = Math.min(appliances, SAMPLED_APPLIANCES);
  const random = seededRandom(1);
  for (let index = 0; index < written; index += 1) {
    store.publish({ task: `appliance-${index}`, samples: applianceSamples(portal, index, random) });
  }
  const text = store.whole('text');
  const packed = (await promisify(gzip)(text, { level: 1 })).length;
  const scale = written === 0 ? 0 : appliances / written;
  return { samples: store.samples * scale, bytes: text.length * scale, packed: packed * scale };
}

function* applianceSamples(portal: PortalConfig, index: number, random: () => number): Generator<Sample> {
  const hex = () =>
    Math.floor(random() * 2 ** 48)
      .toString(16)
      .padStart(12, '0');
  const serial = `${hex().slice(0, 8)}-0000-4000-8000-${hex()}`;
  const subject = { serial, filer: `appliance-${index}` };
  const names = portal.series.map(({ name }) => name);
  for (const [series, { families }] of operationsFor(names, portal.mode === 'economy')) {
    for (const family of families) {
      const fields = isEveryOtherField(family.fields) ? ['1m', '5m', '15m'] : fieldNames(family);
      for (const field of fields) {
        const added = Object.fromEntries(addedLabels(family).map((label) => [label, field]));
        yield { name: family.name, labels: { ...subject, ...added }, value: Math.round(random() * 1e6) / 1e3 };
      }
    }
    yield { name: 'filer_appliance_series_timestamp_seconds', labels: { ...subject, series }, value: 1_772_445_300 };
  }
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function share(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

function duration(ms: number): string {
  return formatDuration(Math.max(1_000, Math.round(ms / 1_000) * 1_000));
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { upstreamCatalog } from '../catalog.ts';
import { formatDuration } from '../config/duration.ts';
import { LineStore } from '../exposition/store.ts';
import { seededRandom } from '../runtime/random.ts';
import type { PortalConfig } from '../sources/portal/configuration.ts';
import { applianceSamples, collectorDemands, planInMode, planOf, shareOf } from '../sources/portal/planning.ts';
import { roundDuration } from './plan.ts';

/** What an empty process takes, and what each byte of the exposition adds, parsing and packing included: measured at 500 appliances. */
const MEMORY = { emptyBytes: 80e6, perExpositionByte: 5 } as const;

/** Appliances written out to know their size; more are counted as many times. */
const SAMPLED_APPLIANCES = 50;

/** Both modes beside each other; nothing where no series are polled. */
function modesText(portal: PortalConfig, appliances: number, shards: number): string {
  if (portal.series.length === 0) return '';
  const modes = (['full', 'economy'] as const).map((mode) => {
    const plan = planInMode(portal, mode, appliances, shards, 0);
    const stretched = plan.effectiveIntervalMs / portal.intervalMs;
    const seldomMs = mode === 'full' ? portal.intervalMs : portal.fullIntervalMs;
    return [
      mode === portal.mode ? `${mode} (as set)` : mode,
      `every ${roundDuration(plan.effectiveIntervalMs)}`,
      `every ${roundDuration(seldomMs * stretched)}`,
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
        ? `3 requests for each volume every ${roundDuration(intervalMs)}, not counted here`
        : `${count(requests)} requests every ${roundDuration(intervalMs)}`,
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
    ['Shortest sweep', roundDuration(plan.sweepMs)],
    ['Interval asked for', roundDuration(portal.intervalMs)],
    ['Interval as the limits allow', roundDuration(plan.effectiveIntervalMs)],
    ['Worst age of data', roundDuration(plan.worstAgeMs)],
    ['Samples', `about ${count(size.samples)}`],
    ['Bytes a scrape', `about ${megabytes(size.bytes)} plain, ${megabytes(size.packed)} gzip`],
    ['Memory', `about ${megabytes(MEMORY.emptyBytes + MEMORY.perExpositionByte * size.bytes)}`],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const table = rows.map(([label, text]) => `${label.padEnd(width)}  ${text}`).join('\n');
  const verdict = plan.fits
    ? 'It fits.'
    : `It does not fit: data would be polled every ${roundDuration(plan.effectiveIntervalMs)}. What would help, each alone:\n${plan.advice
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

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function share(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

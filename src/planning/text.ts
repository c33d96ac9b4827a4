import { formatDuration } from '../config/duration.ts';
import type { PortalConfig } from '../sources/portal/configuration.ts';
import { collectorDemands, planInMode, planOf, shareOf } from '../sources/portal/planning.ts';
import { roundDuration } from './plan.ts';
import { type Switched, sizeOf, VOLUMES } from './size.ts';

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
export async function planText(switched: Switched, appliances: number, shards: number): Promise<string> {
  const { portal, hasGfa } = switched;
  const plan = planOf(portal, appliances, shards);
  const { rateLimit, dailyLimit } = shareOf(portal, shards);
  const size = await sizeOf(switched, appliances);
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
    ['File acceleration', hasGfa ? 'counted below' : 'not polled'],
    ['Volumes', `${VOLUMES} on each appliance are assumed below`],
    ['Samples', `about ${count(Number(size.samples.toPrecision(2)))}`],
    ['Size of a scrape', `about ${amount(size.bytes)} plain, ${amount(size.packed)} gzip`],
    ['Memory', `about ${amount(size.memoryBytes)}`],
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

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function share(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

/** Bytes with two digits that count, in the unit that suits them. */
function amount(bytes: number): string {
  const [unit, size] = bytes < 2 ** 20 ? (['KiB', 2 ** 10] as const) : (['MiB', 2 ** 20] as const);
  return `${Number((bytes / size).toPrecision(2)).toLocaleString('en')} ${unit}`;
}

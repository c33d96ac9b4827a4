import process from 'node:process';
import { createApp } from '../app/app.ts';
import type { Config } from '../config/config.ts';
import { formatDuration } from '../config/duration.ts';
import { intervalFactor, maxAgeMs } from '../polling/fleet.ts';
import { ConfigError } from '../runtime/errors.ts';
import { createLog } from '../runtime/log.ts';
import type { FleetDemand, SampleCounts } from '../services/service.ts';
import { configuredServices, services } from '../services/services.ts';
import { DailyQuota } from '../transport/rate/daily-quota.ts';
import { EXIT, type Options } from './arguments.ts';
import { loadWithWarnings, type Variables, variablesSet } from './load.ts';
import { abortOn, print, systemEnvironment } from './system-environment.ts';

/** Prints what the limits allow: for `--appliances` without any request, else for the account's inventory. */
export async function plan(options: Options, variables: Variables, stopped: Promise<void>): Promise<number> {
  const given = options.appliances === undefined ? undefined : applianceCount(options.appliances);
  const set = await variablesSet(variables);
  const planned = services.flatMap(({ section: { url }, planning }) =>
    planning?.fleet ? [{ url, fleet: planning.fleet }] : [],
  );
  const placeholders = planned.map(({ url, fleet }) => (set.has(url) ? {} : fleet.placeholder));
  const config = await loadWithWarnings(
    given === undefined ? variables : Object.assign({ ...variables }, ...placeholders),
  );
  const configured = configuredServices(config);
  if (!configured.some(({ service }) => service.planning?.fleet)) {
    const urls = planned.map(({ url }) => url).join(' and ');
    throw new ConfigError([`--plan: ${urls} is not set; configure the service, or give a number with --appliances`]);
  }
  const appliances = given ?? (await countAppliances(config, stopped));
  const counts = configured.flatMap(({ service, settings }) => service.planning?.sampleCounts(settings) ?? []);
  const unplanned = services
    .filter(({ planning }) => planning?.fleet === undefined)
    .map(({ title, section }): TextRow => [title, section.of(config) === undefined ? 'not polled' : 'counted below']);
  const size = [...unplanned, ...sizeRows(counts, config.eventBucketsSeconds.length, appliances)];
  let fits = true;
  for (const { service, settings } of configured) {
    const demand = service.planning?.fleet?.demand(settings, appliances);
    if (demand === undefined) continue;
    const fleet = planOf(demand);
    fits &&= fleet.factor === 1;
    await print(planText(demand, fleet, appliances, size));
  }
  return fits ? EXIT.clean : EXIT.failure;
}

function applianceCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new ConfigError([`--appliances: ${text} is not a number of appliances; expected 1 to 9999999`]);
}

async function countAppliances(config: Config, stopped: Promise<void>): Promise<number> {
  const app = createApp(configuredServices(config), config, systemEnvironment(createLog('silent', process.stderr)));
  try {
    return await app.countAppliances(abortOn(stopped));
  } finally {
    await app.stop();
  }
}

/** What a fleet needs of the limits. `factor`: by how much they lengthen the intervals; 1 if the fleet fits. */
export interface Plan {
  readonly perSecond: number;
  readonly allowedPerSecond: number;
  readonly factor: number;
}

export function planOf({ requests, limit, dailyLimit }: FleetDemand): Plan {
  const perSecondOf = (rows: FleetDemand['requests']) =>
    rows.reduce((sum, row) => sum + (1000 * row.requests) / row.intervalMs, 0);
  const perSecond = perSecondOf(requests);
  const priority = perSecondOf(requests.filter((row) => row.hasPriority));
  const allowedPerSecond = Math.min((1000 * limit.requests) / limit.windowMs, new DailyQuota(dailyLimit, 0).perSecond);
  return { perSecond, allowedPerSecond, factor: intervalFactor(perSecond - priority, allowedPerSecond, priority) };
}

type TextRow = readonly [label: string, text: string];

function planText(demand: FleetDemand, fleet: Plan, appliances: number, size: readonly TextRow[]): string {
  const { intervalMs, limit, dailyLimit } = demand;
  const { perSecond, factor } = fleet;
  const perDay = perSecond * 86_400;
  const burstShare = (perSecond * limit.windowMs) / 1000 / limit.requests;
  const rows: readonly TextRow[] = [
    ['Appliances', integer(appliances)],
    ...demand.requests.map(({ label, requests, intervalMs: everyMs, note }): TextRow => {
      return [
        label,
        note ?? `${integer(requests)} ${requests === 1 ? 'request' : 'requests'} every ${duration(everyMs)}`,
      ];
    }),
    ['Requests a second', perSecond.toFixed(2)],
    ['Requests a day', integer(perDay)],
    ['Share of the burst limit', `${share(burstShare)} of ${limit.requests} in ${formatDuration(limit.windowMs)}`],
    [
      'Share of the day’s limit',
      dailyLimit === undefined ? 'no daily limit' : `${share(perDay / dailyLimit)} of ${integer(dailyLimit)}`,
    ],
    ['Configured interval', duration(intervalMs)],
    ['Effective interval', duration(intervalMs * factor)],
    ['Longest time since a poll', duration(maxAgeMs(intervalMs, factor))],
    ...size,
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const table = rows.map(([label, text]) => `${label.padEnd(width)}  ${text}`).join('\n');
  if (factor === 1) return `${table}\n\nIt fits.\n`;
  const [configured, effective] = [duration(intervalMs), duration(intervalMs * factor)];
  const howOften =
    effective === configured
      ? `slightly less often than every ${configured}`
      : `every ${effective} instead of every ${configured}`;
  const advice = adviceFor(demand, fleet, appliances).map((line) => `  - ${line}`);
  return `${table}\n\nIt does not fit: data would be polled ${howOften}. Each of these would make it fit:\n${advice.join('\n')}\n`;
}

function adviceFor({ intervalMs, series }: FleetDemand, { factor, allowedPerSecond }: Plan, appliances: number) {
  const minutes = Math.ceil((intervalMs * factor) / 60_000);
  const [fewerSeries, fewerAppliances] = [Math.floor(series / factor), Math.floor(appliances / factor)];
  const advice = [`a longer PORTAL_INTERVAL: ${minutes}m`];
  if (fewerSeries > 0) {
    const longer = 'or longer intervals for some, as in cache_disk_iops=1h';
    advice.push(`fewer series in PORTAL_SERIES: ${fewerSeries} instead of ${series}, ${longer}`);
  }
  advice.push(`a higher share of the account’s limits than ${allowedPerSecond.toFixed(2)} requests a second`);
  if (fewerAppliances > 0)
    advice.push(`fewer appliances in PORTAL_SERIALS: ${fewerAppliances} instead of ${appliances}`);
  return advice;
}

/** The number of volumes that is assumed on each appliance, because only the polled service lists them. */
const VOLUMES = 3;

/** The bytes of a line, and the share that remains after gzip, measured with the mock services. */
const LINE = { bytes: 168, packedShare: 0.1 } as const;

/** The peak memory of a process without data, and what each sample adds, measured with Node.js 24. */
const MEMORY = { emptyBytes: 98 * 2 ** 20, perSample: 680 } as const;

function sizeRows(counts: readonly SampleCounts[], buckets: number, appliances: number): readonly TextRow[] {
  // Every histogram has the infinite bucket, sum and count.
  const lines = buckets + 3;
  const perAppliance = counts.reduce((sum, { appliance = 0, volume = 0, histograms = 0 }) => {
    return sum + appliance + VOLUMES * (volume + histograms * lines);
  }, 0);
  const samples = appliances * perAppliance;
  const bytes = samples * LINE.bytes;
  return [
    ['Volumes', `${VOLUMES} on each appliance are assumed below`],
    ['Samples', `about ${integer(Number(samples.toPrecision(2)))}`],
    ['Size of a scrape', `about ${amount(bytes)} plain, ${amount(bytes * LINE.packedShare)} gzip`],
    ['Memory', `about ${amount(MEMORY.emptyBytes + MEMORY.perSample * samples)} at most`],
  ];
}

function duration(ms: number): string {
  return formatDuration(Math.max(1_000, Math.round(ms / 1_000) * 1_000));
}

function integer(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function share(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

function amount(bytes: number): string {
  const [unit, size] = bytes < 2 ** 20 ? (['KiB', 2 ** 10] as const) : (['MiB', 2 ** 20] as const);
  return `${Number((bytes / size).toPrecision(2)).toLocaleString('en')} ${unit}`;
}

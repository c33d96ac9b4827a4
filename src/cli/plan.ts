import { createApp } from '../app/app.ts';
import type { Config } from '../config/config.ts';
import { formatDuration } from '../config/duration.ts';
import { intervalFactor, maxAgeMs } from '../polling/fleet.ts';
import { ConfigError } from '../runtime/errors.ts';
import { createLog } from '../runtime/log.ts';
import type { FleetDemand } from '../services/service.ts';
import { configuredServices, services } from '../services/services.ts';
import { DailyQuota } from '../transport/rate/daily-quota.ts';
import { EXIT, type Options } from './arguments.ts';
import { abortOn, type CommandContext, type Variables } from './command-context.ts';
import { load, variablesSet } from './load.ts';
import { print } from './output.ts';
import { systemEnvironment } from './system-environment.ts';

/** Prints what the limits allow: for `--appliances` without any request, else for the account's inventory. */
export async function plan(options: Options, context: CommandContext): Promise<number> {
  const given = options.appliances === undefined ? undefined : applianceCount(options.appliances);
  const config = await load(given === undefined ? context : { ...context, variables: await withPlaceholders(context) });
  const planned = configuredServices(config).filter(({ service }) => service.planning !== undefined);
  if (planned.length === 0) {
    const urls = services
      .flatMap(({ section, planning }) => (planning === undefined ? [] : [section.url]))
      .join(' and ');
    throw new ConfigError([`--plan: ${urls} is not set; configure the service, or give a number with --appliances`]);
  }
  const appliances = given ?? (await countAppliances(config, context));
  let fits = true;
  for (const { service, settings } of planned) {
    const demand = service.planning?.demand(settings, appliances);
    if (demand === undefined) continue;
    const fleet = planOf(demand);
    fits &&= fleet.factor === 1;
    await print(planText(demand, fleet, appliances), context.stdout);
  }
  return fits ? EXIT.clean : EXIT.failure;
}

/** A service that is not configured is planned with its defaults. */
async function withPlaceholders(context: CommandContext): Promise<Variables> {
  const set = await variablesSet(context);
  const added = services.map(({ section, planning }) => (set.has(section.url) ? {} : planning?.placeholder));
  return Object.assign({ ...context.variables }, ...added);
}

function applianceCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new ConfigError([`--appliances: ${text} is not a number of appliances; expected 1 to 9999999`]);
}

async function countAppliances(config: Config, { stderr, stopped }: CommandContext): Promise<number> {
  const app = createApp(config, systemEnvironment(createLog('silent', stderr)));
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

function planText(demand: FleetDemand, fleet: Plan, appliances: number): string {
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
    ['Effective interval', effectiveInterval(intervalMs, factor)],
    ['Longest time since a poll', duration(maxAgeMs(intervalMs, factor))],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const table = rows.map(([label, text]) => `${label.padEnd(width)}  ${text}`).join('\n');
  if (factor === 1) return `${table}\n\nIt fits.\n`;
  const [configured, effective] = [duration(intervalMs), effectiveInterval(intervalMs, factor)];
  const advice = adviceFor(demand, fleet, appliances).map((line) => `  - ${line}`);
  return `${table}\n\nIt does not fit: data would be polled every ${effective} instead of every ${configured}. Each of these would make it fit:\n${advice.join('\n')}\n`;
}

function adviceFor({ intervalMs, series }: FleetDemand, fleet: Plan, appliances: number) {
  const { factor, perSecond, allowedPerSecond } = fleet;
  const minutes = Math.ceil((intervalMs * factor) / 60_000);
  const [fewerSeries, fewerAppliances] = [Math.floor(series / factor), Math.floor(appliances / factor)];
  const advice = [`a longer PORTAL_INTERVAL: ${minutes}m`];
  if (fewerSeries > 0) {
    const longer = 'or longer intervals for some, as in cache_disk_iops=1h';
    advice.push(`fewer series in PORTAL_SERIES: ${fewerSeries} instead of ${series}, ${longer}`);
  }
  const [needed, allowed] = [perSecond, allowedPerSecond].map((rate) => integer(rate * 86_400));
  advice.push(`higher limits of the account, which allow ${allowed} requests a day; the fleet takes ${needed}`);
  if (fewerAppliances > 0)
    advice.push(`fewer appliances in PORTAL_SERIALS: ${fewerAppliances} instead of ${appliances}`);
  return advice;
}

/** Rounded up, so that it differs from the configured interval if the fleet does not fit. */
function effectiveInterval(intervalMs: number, factor: number): string {
  return duration(Math.ceil((intervalMs * factor) / 1_000) * 1_000);
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

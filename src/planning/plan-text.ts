import { formatDuration } from '../config/duration.ts';
import { type EstimatedSize, VOLUMES } from './estimated-size.ts';
import { type FleetPlan, formatInteger, type Plan, roundDuration } from './plan.ts';

function waysText(ways: FleetPlan['modeTable']): string {
  const [labels, ...others] = ways;
  if (labels === undefined || others.length === 0) return '';
  const columns = ways.map((cells) => {
    const width = Math.max(...cells.map((cell) => cell.length));
    return cells.map((cell) => cell.padEnd(width));
  });
  const lines = labels.map((_, row) => columns.map((cells) => cells[row]).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n\n`;
}

export function planText(fleet: FleetPlan, size: EstimatedSize, unplanned: FleetPlan['requestRows']): string {
  const { plan, requestRows, modeTable } = fleet;
  const { appliances, limit, dailyLimit, intervalMs } = plan.demand;
  const rows: readonly (readonly [string, string])[] = [
    ['Appliances', formatInteger(appliances)],
    ...requestRows,
    ['Requests a cycle', formatInteger(plan.requestsPerCycle)],
    ['Requests a second', plan.requestsPerSecond.toFixed(2)],
    ['Requests a day', formatInteger(plan.requestsPerDay)],
    ['Share of the burst limit', `${share(plan.burstShare)} of ${limit.requests} in ${formatDuration(limit.windowMs)}`],
    [
      'Share of the day’s limit',
      plan.dayShare === undefined || dailyLimit === undefined
        ? 'no daily limit'
        : `${share(plan.dayShare)} of ${formatInteger(dailyLimit)}`,
    ],
    ['Shortest cycle', roundDuration(plan.cycleMs)],
    ['Configured interval', roundDuration(intervalMs)],
    ['Effective interval', roundDuration(plan.effectiveIntervalMs)],
    ['Longest time since a poll', roundDuration(plan.maxAgeMs)],
    ...unplanned,
    ['Volumes', `${VOLUMES} on each appliance are assumed below`],
    ['Samples', `about ${formatInteger(Number(size.samples.toPrecision(2)))}`],
    ['Size of a scrape', `about ${amount(size.bytes)} plain, ${amount(size.gzipBytes)} gzip`],
    ['Memory', `about ${amount(size.memoryBytes)} at most`],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  const table = rows.map(([label, text]) => `${label.padEnd(width)}  ${text}`).join('\n');
  const verdict = plan.fits
    ? 'It fits.'
    : `It does not fit: data would be polled ${howOften(plan)}. Each of these would make it fit:\n${plan.advice
        .map((line) => `  - ${line}`)
        .join('\n')}`;
  return `${table}\n\n${waysText(modeTable)}${verdict}\n`;
}

function howOften({ demand, effectiveIntervalMs }: Plan): string {
  const [configured, effective] = [roundDuration(demand.intervalMs), roundDuration(effectiveIntervalMs)];
  return effective === configured
    ? `slightly less often than every ${configured}`
    : `every ${effective} instead of every ${configured}`;
}

function share(value: number): string {
  return `${(value * 100).toFixed(1)} %`;
}

function amount(bytes: number): string {
  const [unit, size] = bytes < 2 ** 20 ? (['KiB', 2 ** 10] as const) : (['MiB', 2 ** 20] as const);
  return `${Number((bytes / size).toPrecision(2)).toLocaleString('en')} ${unit}`;
}

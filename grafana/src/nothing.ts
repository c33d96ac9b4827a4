import { catalog } from '../../src/catalog.ts';
import { recorded } from './catalogue.ts';
import { MISSING } from './panel.ts';
import { select } from './select.ts';
import type { Service } from './service.ts';
import { worst } from './worst.ts';

const sources: ReadonlyMap<string, string> = new Map([
  ...catalog.map(({ name, source }) => [name, source[0] ?? ''] as const),
  // A rule records it of two metrics.
  ['last_checkin_age', 'GET /data'],
]);

/** The meaning of the numbers that stand for a missing value. */
export const reasons = [
  [-1001, 'service down'],
  [-1002, 'not configured'],
  [-1003, 'exporter down'],
  [-1004, 'not known'],
] as const;

/** What a panel names in the place of a filer or a volume if the service behind it gives no data. */
const serviceNames: Readonly<Record<Service, string>> = { gfa: 'file acceleration', portal: 'portal' };

/** Text without width: Grafana would show the name of the job in the place of an empty name. */
export const NOTHING: string = '\u200b';

/**
 * Returns the query, which has one of these numbers as its value if the service that it needs is down or not polled, with the
 * name of the service in the first label of the legend. `isCounted`: the panel has a number of
 * unknown things, so the first number needs no reason while the service is down.
 */
export function orReason(query: string, legend: string, isCounted = false): string {
  const reasons = reasonsFor(query, isCounted);
  return reasons.length === 0 ? query : `${query} or on () ${named(reasons.join(' or on () '), legend, nameOf(query))}`;
}

/**
 * Returns the query, which has one line without values while the service that it needs is down. The legend of a chart would
 * else keep the newest value of each line. If a label names the lines, this line is named by the reason.
 */
export function orNaN(query: string, legend: string): string {
  const service = serviceOf(query);
  if (service === undefined) return query;
  const none = `NaN * group(${select('filer_api_up', { api: `="${service}"` })} == 0)`;
  return `${query} or on () ${named(none, legend, 'service down')}`;
}

/** Does the same as `orReason` for the twenty worst lines of a timeline, which needs a line for Grafana to draw. */
export function worstOrReason(query: string, legend: string): string {
  const missing = [...reasonsFor(query), `-1004 * group(${select('up')}) unless on () (${query})`];
  return `${worst(20, query)} or on () ${named(missing.join(' or on () '), legend, nameOf(query))}`;
}

/** Returns the query for words, which are the reason if there is one, and else these words. */
export function orReasonInWords(query: string, legend: string, empty: string): string {
  const rows = reasonsFor(query).map((reason, index) => named(reason, legend, reasons[index]?.[1] ?? MISSING));
  return [query, ...rows, named(`-1 * group(${select('up')})`, legend, empty)].join(' or on () ');
}

/** Returns the query. If it finds nothing although the series `from` exist, it has one row of -1 with an empty label. */
export function orNone(query: string, from: string, label: string): string {
  return `${query} or on () ${named(`-1 * group(${from})`, `{{${label}}}`, NOTHING)}`;
}

function nameOf(query: string): string {
  return serviceNames[serviceOf(query) ?? 'portal'];
}

/** Gives the labels of the legend to series without them: the first label names them. */
function named(query: string, legend: string, name: string): string {
  const labels = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
  return labels.reduce(
    (so, label, index) => `label_replace(${so}, "${label}", "${index === 0 ? name : NOTHING}", "", "")`,
    query,
  );
}

/** Returns the queries for the reasons; none if the query needs no service. */
export function reasonsFor(query: string, isCounted = false): readonly string[] {
  const service = serviceOf(query);
  if (service === undefined) return [];
  const up = select('filer_api_up', { api: `="${service}"` });
  return [
    ...(isCounted ? [] : [`-1001 * group(${up} == 0)`]),
    `-1002 * group(${select('filer_exporter_build_info')} unless on () ${up})`,
    `-1003 * group(${select('up')} == 0)`,
  ];
}

/** Returns the service whose data a query shows; undefined if the query shows none, or shows alerts. */
function serviceOf(query: string): Service | undefined {
  // The name of a recorded series has that of its metric in the middle.
  const found = namesIn(query.replaceAll(/\b\w+:(\w+):\w+/g, '$1')).flatMap((name) => sources.get(name) ?? []);
  const [data] = found.filter((source) => source !== 'the exporter');
  if (data === undefined || query.includes('ALERTS')) return undefined;
  return data.startsWith('GET /data') ? 'gfa' : 'portal';
}

/** Whether a query has series that the rules record. */
export function isRecorded(query: string): boolean {
  return namesIn(query).some((name) => recorded.some((rule) => rule.name === name));
}

/** The metrics in a query, without the parts of histograms. */
function namesIn(query: string): readonly string[] {
  const names = query.match(/[a-z_]+(?::[\w:]+)?(?=\{)/gi) ?? [];
  return names.map((name) => (sources.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, '')));
}

/** Explains why queries may have no result: which service, collector or rule they need. */
export function reasonForNothing(queries: readonly string[]): string {
  const names = queries.flatMap(namesIn);
  if (queries.some(isRecorded)) {
    return 'nothing known: a service is down, not configured or off, or the rules are not loaded or were not evaluated yet';
  }
  const found = names.map((name) => sources.get(name) ?? '');
  if (found.some((source) => source.startsWith('GET /data'))) {
    return 'nothing known: file acceleration is down or not configured, or reports none';
  }
  if (found.every((source) => source === 'the exporter' || source === ''))
    return 'nothing known: the exporter does not measure it yet, or is down';
  const off = queries.some((query) => query.includes('[$')) ? '' : 'the appliance is off, ';
  return `nothing known: the portal is down or not configured, a collector is off, ${off}or the exporter has just started`;
}

import { catalog } from '../../src/catalog.ts';
import { recorded } from './catalogue.ts';
import { select } from './select.ts';
import type { Service } from './service.ts';

const sources: ReadonlyMap<string, string> = new Map(catalog.map(({ name, source }) => [name, source[0] ?? '']));

/** The meaning of the numbers that stand for a missing value. */
export const reasons = [
  [-1001, 'service down'],
  [-1002, 'not configured'],
  [-1003, 'exporter down'],
] as const;

/**
 * Returns the query, which has one of these numbers as its value if the service that it needs is down or not polled.
 * `isCounted`: another number counts what is unknown while the service is down.
 */
export function orReason(query: string, isCounted = false): string {
  return [query, ...reasonsFor(query, isCounted)].join(' or on () ');
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
    return 'nothing known: a service is down, not configured or off, or the rules are not loaded';
  }
  const found = names.map((name) => sources.get(name) ?? '');
  if (found.some((source) => source.startsWith('GET /data'))) {
    return 'nothing known: file acceleration is down or not configured, or reports none';
  }
  if (found.every((source) => source === 'the exporter' || source === ''))
    return 'nothing known: the exporter does not measure it yet, or is down';
  return 'nothing known: the portal is down or not configured, a collector is off, or the appliance is off';
}

import { labelValue } from '../../../metrics/samples.ts';
import { epochMilliseconds, parseDecimal } from '../../../metrics/units.ts';
import type { Exchange } from '../../../transport/json-client.ts';
import { objectOrEmpty, objectsOrEmpty } from '../records.ts';
import { lifetimeOf, parseToken } from '../token-requests.ts';
import type { VariantAnswers } from './questions.ts';
import type { UnitEvidence } from './unit-evidence.ts';

/** If this many utilizations of processors and caches are at most 1, the account may send ratios. */
const MIN_UTILIZATIONS = 10;

function itemsOf(exchanges: readonly Exchange[], operation: string) {
  return exchanges
    .filter((exchange) => exchange.status === 200 && exchange.operation === operation)
    .flatMap(({ body }) => objectsOrEmpty(objectOrEmpty(body).items));
}

export function idsOf(exchanges: readonly Exchange[], operation: string, field: string): ReadonlySet<string> {
  return new Set(itemsOf(exchanges, operation).map((record) => labelValue(record[field]).toLowerCase()));
}

/** `now`: epoch milliseconds. */
export function tokenAnswers(exchanges: readonly Exchange[], now: number): VariantAnswers {
  const tokenExchange = exchanges.find(({ operation, status }) => operation === 'token' && status === 200);
  if (tokenExchange === undefined) return {};
  const { seconds } = lifetimeOf(parseToken(tokenExchange.body), now);
  const lifetimeClass = seconds <= 3600 ? 'up_to_an_hour' : seconds <= 86_400 ? 'up_to_a_day' : 'more_than_a_day';
  return { token_lifetime: seconds < 600 ? 'below_10_minutes' : lifetimeClass };
}

/** Evidence of the unit from CPU and cache utilization, for appliances whose build does not report `utilization` of memory. */
export function ratioEvidence(exchanges: readonly Exchange[]): readonly UnitEvidence[] {
  const utilizations = [...itemsOf(exchanges, 'cpu_utilization'), ...itemsOf(exchanges, 'cache_utilization')]
    .flatMap(({ cpu_usage, cache_utilization }) => parseDecimal(cpu_usage) ?? parseDecimal(cache_utilization) ?? [])
    .filter((utilization) => utilization > 0);
  if (utilizations.some((utilization) => utilization > 1))
    return [{ question: 'ratio_unit', answer: 'percent', isProof: true }];
  return utilizations.length < MIN_UTILIZATIONS ? [] : [{ question: 'ratio_unit', answer: 'ratio', isProof: false }];
}

/** The time of the newest record of any series, in epoch milliseconds; undefined without a record. */
export function newestRecordMs(exchanges: readonly Exchange[]): number | undefined {
  const times = exchanges
    .filter(({ status }) => status === 200)
    .flatMap(({ body }) => objectsOrEmpty(objectOrEmpty(body).items))
    .flatMap(({ time }) => epochMilliseconds.read(time) ?? []);
  return times.length === 0 ? undefined : 1000 * times.reduce((newest, time) => Math.max(newest, time));
}

export function connectionIds(exchanges: readonly Exchange[]): string | undefined {
  const ids = idsOf(exchanges, 'volume_connections', 'appliance_id');
  const matches = (field: 'id' | 'serial') => [...idsOf(exchanges, 'edges', field)].some((id) => ids.has(id));
  if (matches('id')) return 'edge_id';
  return matches('serial') ? 'serial' : undefined;
}

export function volumesIn(exchanges: readonly Exchange[]) {
  const connections = itemsOf(exchanges, 'volume_connections');
  const names = new Map(
    connections.map(({ volume_id, volume_name }) => [labelValue(volume_id), labelValue(volume_name)]),
  );
  return [...names].map(([id, name]) => ({ id, name }));
}

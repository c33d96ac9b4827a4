import { labelValue } from '../../../metrics/samples.ts';
import { parseDecimal } from '../../../metrics/units.ts';
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
  const { seconds, source } = lifetimeOf(parseToken(tokenExchange.body), now);
  const lifetimeClass = seconds <= 3600 ? 'up_to_an_hour' : seconds <= 86_400 ? 'up_to_a_day' : 'more_than_a_day';
  return { token_lifetime: seconds < 600 ? 'below_10_minutes' : lifetimeClass, token_lifetime_source: source };
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

export function unfitMemorySeries(exchanges: readonly Exchange[]): string | undefined {
  for (const { operation, status, body } of exchanges) {
    if (!operation.startsWith('memory_utilization')) continue;
    if (status === 404 || status === 422) return String(status);
    const { items } = objectOrEmpty(body);
    if (Array.isArray(items) && items.length === 0) return 'empty';
  }
  return undefined;
}

export function loadNames(exchanges: readonly Exchange[]): string | undefined {
  const names = new Set(itemsOf(exchanges, 'load_average').flatMap((record) => Object.keys(record)));
  names.delete('time');
  const hasName = (pattern: RegExp) => [...names].some((name) => pattern.test(name));
  if (names.size === 0) return undefined;
  if (hasName(/longterm/i)) return 'longterm';
  if (hasName(/fifteen/i)) return 'minutes_in_words';
  return hasName(/15/) ? 'minutes_in_digits' : 'other';
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

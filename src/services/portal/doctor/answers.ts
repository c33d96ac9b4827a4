import type { Readings } from '../../../doctor/service-check.ts';
import { labelValue } from '../../../metrics/samples.ts';
import { epochMilliseconds } from '../../../metrics/units.ts';
import type { Exchange } from '../../../transport/json-client.ts';
import { objectOrEmpty, objectsOrEmpty } from '../records.ts';

/** The properties that the portal's documentation leaves open and an account shows, each with its alternatives and their effect. */
export const portalReadings: Readings = {
  ratio_unit: { percent: 'as documented', ratio: 'the values are 100 times too small until PORTAL_UNITS has ratio' },
  memory_unit: {
    kilobytes: 'as documented, 1024 bytes each',
    bytes: 'the values are 1024 times too large until PORTAL_UNITS has memory_bytes',
  },
  time_unit: { milliseconds: 'as documented', seconds: 'each time before 2001 is read as seconds' },
  latency_unit: {
    milliseconds: 'as documented',
    seconds: 'the values are 1000 times too small until PORTAL_UNITS has latency_seconds',
  },
  bin_size: {
    honoured: 'bins have the length in PORTAL_BIN_SIZE',
    ignored: 'bins are one minute; PORTAL_BIN_SIZE has no effect',
  },
  newest_bin: {
    whole: 'the newest bin is shown, and is complete',
    partial: 'a bin above one minute is shown before it is complete; keep PORTAL_BIN_SIZE at 60s',
    null: 'the newest bin with a value is shown',
  },
  counts: {
    per_bin: 'as documented: requests in a bin of PORTAL_BIN_SIZE',
    per_second: 'the values are too small until PORTAL_UNITS has requests_per_second',
  },
  longest_period: {
    P30D: 'history reaches back 30 days',
    P7D: 'history reaches back 7 days',
    P1D: 'history reaches back a day',
  },
  connection_appliance_id: { edge_id: 'the appliance is found by it', serial: 'the appliance is found by it' },
};

/** The records of all responses with 200, or of those to one operation. */
export function itemsOf(exchanges: readonly Exchange[], operation?: string) {
  return exchanges
    .filter((exchange) => exchange.status === 200 && exchange.operation === (operation ?? exchange.operation))
    .flatMap(({ body }) => objectsOrEmpty(objectOrEmpty(body).items));
}

export function idsOf(exchanges: readonly Exchange[], operation: string, field: string): ReadonlySet<string> {
  return new Set(itemsOf(exchanges, operation).map((record) => labelValue(record[field]).toLowerCase()));
}

/** The time of the newest record of any series, in epoch milliseconds; undefined without a record. */
export function newestRecordMs(exchanges: readonly Exchange[]): number | undefined {
  const times = itemsOf(exchanges).flatMap(({ time }) => epochMilliseconds.read(time) ?? []);
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

import type { OwnMetric } from '../../contract/own-metric.ts';
import type { GfaLedger } from './ledger.ts';

interface LedgerMetric extends OwnMetric {
  readonly read: (ledger: GfaLedger) => number;
}

/** The metrics that only this service has: they are about its events. */
export const gfaOwnMetrics: readonly LedgerMetric[] = [
  {
    name: 'filer_exporter_event_memory_events',
    help: 'Events remembered so that each counts once.',
    read: ({ memory }) => memory.size,
  },
  {
    name: 'filer_exporter_event_memory_evicted_total',
    help: 'Events evicted because the limit was reached; an evicted event counts again if the service sends it again.',
    type: 'counter',
    read: ({ memory }) => memory.evicted,
  },
  {
    name: 'filer_exporter_event_memory_limit_events',
    help: 'Limit of remembered events.',
    read: ({ memory }) => memory.limit,
  },
  {
    name: 'filer_exporter_event_bookmarks_missed_total',
    help: 'How often the newest event that the service announced never arrived: the least number of missing events.',
    type: 'counter',
    read: ({ bookmarks }) => bookmarks.missed,
  },
  {
    name: 'filer_exporter_client_key_shared',
    help: '1 when the service seems to deliver events to another client with the same client key, else 0.',
    read: ({ bookmarks }) => (bookmarks.isSuspicious ? 1 : 0),
  },
];

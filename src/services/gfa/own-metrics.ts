import type { OwnMetric } from '../../contract/service-details.ts';
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
];

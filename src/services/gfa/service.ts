import type { OwnMetric } from '../../contract/service-details.ts';
import type { Table } from '../../metrics/family.ts';
import type { Service } from '../service.ts';
import { gfaCauses } from './causes.ts';
import { requestData, temporaryClientKey } from './client.ts';
import { GfaCollector } from './collector.ts';
import { type GfaSettings, gfaSection } from './configuration.ts';
import { createGfaCheck } from './doctor/check.ts';
import * as families from './families.ts';
import type { GfaLedger } from './ledger.ts';

/** The service documents no limits. These allow one retry and one request with a token that was read again, a second apart. */
const RATE = { requestsPerInterval: 4, maxPerMs: 1 / 1_000 } as const;

/** The memory of a filer on a volume with its histograms and samples, rounded up. */
const PAIR_BYTES = 24 * 1024;

/** With more filers on volumes, reading a response would block the event loop too long, however much memory there is. */
const MAX_PAIRS = 200_000;

/** The most events that are remembered, see `SeenIds`. One takes about 75 bytes, and all of them a seventh of the heap. */
const MAX_EVENTS = 1_000_000;
const HEAP_BYTES_PER_EVENT = 512;

/**
 * The newest events of a filer that no response names stay for twice STALE_AFTER, because a filer may report more seldom
 * than it is polled, but for no more intervals than this.
 */
const MAX_GONE_INTERVALS = 6;

const tables: readonly Table[] = [
  { source: 'GET /data, info', commonLabels: [], families: families.infoTable },
  { source: 'GET /data, volumes', commonLabels: families.volumeLabels, families: families.volumeTable },
  { source: 'GET /data, filers', commonLabels: families.filerLabels, families: families.filerTable },
  { source: 'GET /data, filers on a volume', commonLabels: families.pairLabels, families: families.filerOnVolumeTable },
  { source: 'GET /data, propagation', commonLabels: families.pairLabels, families: families.propagationTable },
  { source: 'GET /data, locks', commonLabels: families.pairLabels, families: families.lockTable },
  {
    source: 'GET /data, every group',
    commonLabels: [...families.pairLabels, 'group'],
    families: [families.recordTimestamp],
  },
];

interface LedgerMetric extends OwnMetric {
  readonly read: (ledger: GfaLedger) => number;
}

/** The metrics that only this service has: they are about its events. */
const ownMetrics: readonly LedgerMetric[] = [
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

export const gfa: Service<GfaSettings> = {
  section: gfaSection,
  title: 'File acceleration',
  causes: gfaCauses,
  tables,
  ownMetrics,

  target: ({ url, intervalMs }) => ({
    baseUrl: url,
    limit: { requests: RATE.requestsPerInterval, windowMs: intervalMs },
    dailyLimit: undefined,
    maxPerMs: RATE.maxPerMs,
    concurrency: 1,
  }),

  // Bookmarks belong to the service and the client key.
  stateOwner: ({ url, clientKey }) => [url, clientKey],

  withOwnClientKey: (settings, now) => ({ ...settings, clientKey: temporaryClientKey(settings, 'once', now) }),

  createCheck: createGfaCheck,

  connect(settings, { client, config, clock, log, heapBytes, names, saveSoon }) {
    const { intervalMs } = settings;
    const { staleAfter } = config;
    const goneAfterMs = Math.max(staleAfter, Math.min(2 * staleAfter, MAX_GONE_INTERVALS)) * intervalMs;
    const ledger = {
      bounds: config.eventBucketsSeconds,
      maxEvents: Math.min(MAX_EVENTS, Math.floor(heapBytes / HEAP_BYTES_PER_EVENT)),
      maxPairs: Math.min(MAX_PAIRS, Math.floor(heapBytes / PAIR_BYTES)),
      staleAfterMs: staleAfter * intervalMs,
      goneAfterMs,
      // With a long interval, FORGET_AFTER may be shorter than the time between two polls.
      forgetAfterMs: Math.max(config.forgetAfterMs, goneAfterMs),
      names,
      serviceClock: client.serviceClock,
    };
    const request = (signal: AbortSignal) => requestData(client, settings, signal);
    const collector = new GfaCollector({ request, ledger, intervalMs, saveSoon, clock, log });
    return {
      collector,
      intervalMs,
      ownValues: () => new Map(ownMetrics.map(({ name, read }) => [name, read(collector.ledger)])),
      warnings: () => collector.warnings,
      savedPart: collector,
      restoredResult: () => collector.restoredResult(),
    };
  },
};

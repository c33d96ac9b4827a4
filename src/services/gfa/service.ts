import type { Table } from '../../metrics/family.ts';
import type { Service } from '../service.ts';
import { GfaClient, temporaryClientKey } from './client.ts';
import { GfaCollector } from './collector.ts';
import { type GfaConfig, gfaSection } from './configuration.ts';
import { gfaExamination } from './doctor-check.ts';
import * as series from './series.ts';

/** The service documents no limits. Allows a retry and a new try with a token read again, a second apart. */
const PACE = { requestsPerInterval: 4, maxPerMs: 1 / 1_000 } as const;

/** Memory of a filer on a volume with its histograms and lines, in bytes; rounded up. */
const PAIR_BYTES = 24 * 1024;

/** With more filers on volumes, reading an answer would hold the event loop too long, however much memory there is. */
const MAX_PAIRS = 200_000;

/** The most events to remember; see `EventMemory`. One takes some 75 bytes. */
const MAX_EVENTS = 1_000_000;

const tables: readonly Table[] = [
  { source: 'GET /data, info', commonLabels: [], families: series.infoTable },
  { source: 'GET /data, volumes', commonLabels: series.volumeLabels, families: series.volumeTable },
  { source: 'GET /data, filers without a volume', commonLabels: series.filerLabels, families: series.filerTable },
  { source: 'GET /data, filers on a volume', commonLabels: series.pairLabels, families: series.filerOnVolumeTable },
  {
    source: 'GET /data, propagation',
    commonLabels: series.pairLabels,
    families: [series.propagationLatest, series.propagationDuration, series.dataProtected],
  },
  {
    source: 'GET /data, locks',
    commonLabels: series.pairLabels,
    families: [series.lockLatest, series.lockTimestamp, series.lockDuration, series.lockEvents, series.lockState],
  },
  {
    source: 'GET /data, every group',
    commonLabels: [...series.pairLabels, 'group'],
    families: [series.recordTimestamp],
  },
];

export const gfa: Service<GfaConfig> = {
  section: gfaSection,
  title: 'File acceleration',
  tables,
  firstShardOnly: true,

  target: ({ url, intervalMs }) => ({
    baseUrl: url,
    limit: { requests: PACE.requestsPerInterval, windowMs: intervalMs },
    dailyLimit: undefined,
    maxPerMs: PACE.maxPerMs,
    concurrency: 1,
  }),

  // Bookmarks belong to the service and the client key.
  stateOwner: ({ url, clientKey }) => [url, clientKey],

  size: () => [{ volume: 7.7, histograms: 1.7 }],

  withOwnClientKey: (settings, now) => ({ ...settings, clientKey: temporaryClientKey(settings, 'once', now) }),

  createDoctorCheck: gfaExamination,

  connect(settings, { client, config, clock, random, log, heapBytes, names, keeper }) {
    const { intervalMs } = settings;
    const { events } = config;
    const maxEvents = Math.min(MAX_EVENTS, Math.floor(heapBytes / 512));
    const ledger = {
      bounds: events.histograms ? events.bucketsSeconds : [],
      maxEvents,
      maxPairs: Math.min(MAX_PAIRS, Math.floor(heapBytes / PAIR_BYTES)),
      groups: settings.groups,
      goneAfterMs: config.staleAfter * intervalMs,
      forgetAfterMs: config.forgetAfterMs,
      names,
      serviceClock: client.serviceClock,
    };
    const api = new GfaClient(client, settings, { clock, random });
    const collector = new GfaCollector({ client: api, ledger, intervalMs, keeper, clock, log });
    return {
      collector,
      intervalMs,
      events: () => ({
        memory: { ...collector.ledger.memory, limit: maxEvents },
        bookmarks: collector.ledger.bookmarks,
      }),
      notes: () => collector.notes,
      kept: [collector],
      savesAfterPolls: true,
      restoredResult: () => collector.known(),
    };
  },
};

import type { SeenRequest, SentResponse, ServiceName } from '../../src/demo/services.ts';
import { MINUTE } from './duration.ts';

/** What an exporter is configured to do, in milliseconds. */
export interface Task {
  readonly gfa: boolean;
  /** The telemetry series that it polls of each appliance; none without a portal. */
  readonly series: readonly string[];
  readonly intervalMs: number;
  readonly discoveryMs: number;
  readonly dataMs: number;
  readonly limit: { readonly requests: number; readonly windowMs: number };
}

type Fields = Readonly<Record<string, unknown>>;

/** What is wrong with some requests, or was; in monotonic milliseconds. */
interface Disturbance {
  readonly concerns: (service: ServiceName, path: string) => boolean;
  /** It may be felt for so long after its end. */
  readonly echoMs: number;
  endedAt: number;
}

/** Events that can be counted, by the metric that counts them. */
export const COUNTED = {
  locks: 'filer_lock_events_total',
  propagation: 'filer_propagation_duration_seconds_count',
  jobs: 'filer_jobs_finished_total',
  notifications: 'filer_notifications_by_severity_total',
  snapshots: 'filer_snapshots_total',
} as const;

type Counted = keyof typeof COUNTED;

/** The portal was down if it returned no series for so long. */
const OUTAGE_MS = 10 * MINUTE;

/** What the services received and delivered, and when: the truth that scrapes are compared with. */
export class Evidence {
  readonly #monotonic: () => number;
  readonly #disturbances: Disturbance[] = [];
  readonly requests: {
    readonly at: number;
    readonly service: ServiceName;
    readonly path: string;
    readonly status: number;
  }[] = [];
  /** When the newest request of a path without its query arrived. */
  readonly #requestedAt = new Map<string, number>();
  /** Of each series, by `serial/series`, when its newest record was last delivered, by the time of that record. */
  readonly #series = new Map<string, Map<number, number>>();
  /** When an appliance last had a record. */
  readonly #recordedAt = new Map<string, number>();
  /** When the portal last returned a series, and file acceleration its data. */
  readonly #respondedAt = { gfa: Number.NEGATIVE_INFINITY, portal: Number.NEGATIVE_INFINITY };
  /** When the portal responded again after an outage. */
  #portalBackAt = Number.NEGATIVE_INFINITY;
  /** Ids of the events that were delivered since the start of the exporter, and before it. */
  #events = emptyEvents();
  #earlierEvents = emptyEvents();
  /** The jobs that had ended when the exporter first requested them are not counted. */
  #hasJobs = false;
  /** Events of a time before this, in epoch milliseconds, are not counted. */
  #countedFrom = 0;
  startedAt = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** An exporter starts; `remembers` whether it knows which events the one before had counted. */
  started(now: number, remembers: boolean): void {
    this.startedAt = this.#monotonic();
    // Clocks are compared in whole seconds, over some responses.
    this.#countedFrom = now - MINUTE;
    this.#hasJobs = false;
    for (const kind of Object.keys(COUNTED) as Counted[]) {
      if (remembers) for (const id of this.#events[kind]) this.#earlierEvents[kind].add(id);
    }
    if (!remembers) this.#earlierEvents = emptyEvents();
    this.#events = emptyEvents();
  }

  /** A request arrived, and this is sent. */
  take({ service, path }: Pick<SeenRequest, 'service' | 'path'>, { status, body, how }: SentResponse): void {
    const at = this.#monotonic();
    this.requests.push({ at, service, path, status });
    const [operation = ''] = path.split('?');
    this.#requestedAt.set(operation, at);
    if (status !== 200 || how !== undefined) return;
    const response = jsonObject(body);
    if (response === undefined) return;
    if (service === 'gfa') this.#takeData(response);
    const [, serial, series] = /^\/telemetry\/appliances\/([^/]+)\/(\w+)$/.exec(operation) ?? [];
    if (serial !== undefined && series !== undefined) this.#takeSeries(serial, series, response);
    if (operation === '/jobs') this.#takeJobs(recordsIn(response.items));
    for (const { id, generated_at } of operation === '/notifications' ? recordsIn(response.items) : []) {
      if (Date.parse(String(generated_at)) >= this.#countedFrom) this.#deliver('notifications', String(id));
    }
    for (const item of operation.endsWith('/snapshot_details') ? recordsIn(response.items) : []) {
      const id = `${operation} ${item.serial_number} ${item.volume_version}`;
      if (Number(item.time) >= this.#countedFrom) this.#deliver('snapshots', id);
    }
  }

  /** Something is wrong with some requests until the returned function is called. */
  disturb(concerns: Disturbance['concerns'], echoMs = 0): () => void {
    const disturbance = { concerns, echoMs, endedAt: Number.POSITIVE_INFINITY };
    this.#disturbances.push(disturbance);
    return () => {
      disturbance.endedAt = Math.min(disturbance.endedAt, this.#monotonic());
    };
  }

  /** For how long nothing has been wrong with a request; at most as long as the exporter has been running. */
  quietMs(service: ServiceName, path: string): number {
    const now = this.#monotonic();
    let quietMs = now - this.startedAt;
    for (const { concerns, echoMs, endedAt } of this.#disturbances) {
      // Without a token no request of the portal succeeds.
      const isConcerned = concerns(service, path) || (service === 'portal' && concerns(service, '/auth/token'));
      if (isConcerned) quietMs = Math.min(quietMs, now - endedAt - echoMs);
    }
    return quietMs;
  }

  sinceRequest(operation: string): number {
    return this.#monotonic() - (this.#requestedAt.get(operation) ?? Number.NEGATIVE_INFINITY);
  }

  sinceResponse(service: ServiceName): number {
    return this.#monotonic() - this.#respondedAt[service];
  }

  /** How long an appliance has had no record, outages of the portal not counted: they say nothing about it. */
  sinceRecord(serial: string): number {
    return this.#monotonic() - Math.max(this.#recordedAt.get(serial) ?? Number.NEGATIVE_INFINITY, this.#portalBackAt);
  }

  /** How long ago a series was last delivered with a newest record of this time, in Unix seconds; undefined if never. */
  sinceDelivery(series: string, time: number): number | undefined {
    const at = [...(this.#series.get(series) ?? [])].findLast(([newest]) => Math.abs(newest - time) <= 1)?.[1];
    return at === undefined ? undefined : this.#monotonic() - at;
  }

  hasDelivered(series: string): boolean {
    return this.#series.has(series);
  }

  /** The most events of a kind that a counter may have. */
  mostCounted(kind: Counted): number {
    return [...this.#events[kind]].filter((id) => !this.#earlierEvents[kind].has(id)).length;
  }

  #deliver(kind: Counted, id: string): void {
    this.#events[kind].add(id);
  }

  #takeSeries(serial: string, series: string, { items }: Fields): void {
    if (!Array.isArray(items)) return;
    if (this.sinceResponse('portal') > OUTAGE_MS) this.#portalBackAt = this.#monotonic();
    this.#respondedAt.portal = this.#monotonic();
    const times = recordsIn(items)
      .filter((record) => Object.entries(record).some(([field, value]) => field !== 'time' && value !== null))
      .map(({ time }) => Number(time) / 1000);
    if (times.length === 0) return;
    this.#recordedAt.set(serial, this.#monotonic());
    const key = `${serial}/${series}`;
    const delivered = this.#series.get(key) ?? new Map<number, number>();
    const newest = Math.max(...times);
    // Set anew, so that the latest delivery is the last of the map.
    delivered.delete(newest);
    this.#series.set(key, delivered.set(newest, this.#monotonic()));
  }

  #takeData({ metrics }: Fields): void {
    this.#respondedAt.gfa = this.#monotonic();
    for (const part of recordsIn(Array.isArray(metrics) ? metrics : [metrics])) {
      for (const group of ['locks', 'propagation'] as const) {
        for (const { filer_title, volume_title, ...event } of recordsIn(part[group])) {
          this.#deliver(group, JSON.stringify(event));
        }
      }
    }
  }

  #takeJobs(jobs: readonly Fields[]): void {
    for (const { id, state } of jobs) {
      if (state !== 'completed' && state !== 'failed') continue;
      if (this.#hasJobs) this.#deliver('jobs', String(id));
      else this.#earlierEvents.jobs.add(String(id));
    }
    this.#hasJobs = true;
  }
}

function emptyEvents(): Record<Counted, Set<string>> {
  return { locks: new Set(), propagation: new Set(), jobs: new Set(), notifications: new Set(), snapshots: new Set() };
}

function recordsIn(list: unknown): readonly Fields[] {
  const records: readonly unknown[] = Array.isArray(list) ? list : [];
  return records.filter((record): record is Fields => typeof record === 'object' && record !== null);
}

function jsonObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

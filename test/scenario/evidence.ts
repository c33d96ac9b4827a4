import type { SentResponse, ServiceName } from '../../src/demo/services.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What is wrong with some requests, or was. */
interface Disturbance {
  readonly concerns: (service: ServiceName, path: string) => boolean;
  /** It may be felt for so long after its end. */
  readonly echoMs: number;
  endedAt: number;
}

/** The groups of events of file acceleration, and the metrics that count them. */
export const COUNTED = {
  locks: 'filer_lock_events_total',
  propagation: 'filer_propagation_duration_seconds_count',
};

/** What the services received and delivered, and when: the truth that scrapes are compared with. Moments are monotonic milliseconds. */
export class Evidence {
  readonly #monotonic: () => number;
  readonly #disturbances: Disturbance[] = [];
  /** When the newest request of a path without its query arrived. */
  readonly #requestedAt = new Map<string, number>();
  /** When a service last delivered a series or its data, and when each series of an appliance last came with a record. */
  readonly #deliveredAt = new Map<string, number>();
  /** The events that were delivered since the start of the exporter, and those that it knows from before. */
  #events = new Set<string>();
  #earlierEvents = new Set<string>();
  #startedAt = 0;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** An exporter starts; `remembers` whether it knows which events the one before had counted. */
  started(remembers: boolean): void {
    this.#startedAt = this.#monotonic();
    this.#earlierEvents = remembers ? new Set([...this.#earlierEvents, ...this.#events]) : new Set();
    this.#events = new Set();
  }

  /** A request arrived, and this is sent. */
  take(service: ServiceName, path: string, { status, body, how }: SentResponse): void {
    const [operation = ''] = path.split('?');
    this.#requestedAt.set(operation, this.#monotonic());
    const response = status === 200 && how === undefined ? jsonObject(body) : undefined;
    if (response === undefined) return;
    if (service === 'gfa') this.#takeData(response);
    const [, series] = /^\/telemetry\/appliances\/(.+)$/.exec(operation) ?? [];
    if (series === undefined || !Array.isArray(response.items)) return;
    this.#delivered('portal');
    const hasRecord = recordsIn(response.items).some((record) =>
      Object.entries(record).some(([field, value]) => field !== 'time' && value !== null),
    );
    if (hasRecord) this.#delivered(series);
  }

  /** Something is wrong with some requests until the returned function is called. */
  disturb(concerns: Disturbance['concerns'], echoMs: number): () => void {
    const disturbance = { concerns, echoMs, endedAt: Number.POSITIVE_INFINITY };
    this.#disturbances.push(disturbance);
    return () => {
      disturbance.endedAt = Math.min(disturbance.endedAt, this.#monotonic());
    };
  }

  /** For how long nothing has been wrong with a request; at most as long as the exporter has been running. */
  quietMs(service: ServiceName, path: string): number {
    const now = this.#monotonic();
    let quietMs = this.sinceStart;
    for (const { concerns, echoMs, endedAt } of this.#disturbances) {
      // Without a token no request of the portal succeeds.
      const isConcerned = concerns(service, path) || (service === 'portal' && concerns(service, '/auth/token'));
      if (isConcerned) quietMs = Math.min(quietMs, now - endedAt - echoMs);
    }
    return quietMs;
  }

  /** How long ago the exporter was started. */
  get sinceStart(): number {
    return this.#monotonic() - this.#startedAt;
  }

  sinceRequest(operation: string): number {
    return this.#monotonic() - (this.#requestedAt.get(operation) ?? Number.NEGATIVE_INFINITY);
  }

  /** How long ago a service, or a series as `serial/series`, was delivered; infinite if never. */
  sinceDelivery(what: string): number {
    return this.#monotonic() - (this.#deliveredAt.get(what) ?? Number.NEGATIVE_INFINITY);
  }

  /** The most events of a group that a counter may have. */
  mostCounted(group: string): number {
    return [...this.#events].filter((event) => event.startsWith(group) && !this.#earlierEvents.has(event)).length;
  }

  #delivered(what: string): void {
    this.#deliveredAt.set(what, this.#monotonic());
  }

  #takeData({ metrics }: Fields): void {
    this.#delivered('gfa');
    for (const part of recordsIn(Array.isArray(metrics) ? metrics : [metrics])) {
      for (const group of Object.keys(COUNTED)) {
        // An event is the same one after its filer or volume was renamed.
        for (const { filer_title, volume_title, ...event } of recordsIn(part[group]))
          this.#events.add(`${group} ${JSON.stringify(event)}`);
      }
    }
  }
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

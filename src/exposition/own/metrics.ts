import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DropReason } from '../../metrics/samples.ts';
import type { Api } from '../../metrics/snapshot.ts';
import { type Format, formatBound, formatValue, headerLines, labelText } from '../format.ts';
import { type OwnMetric, ownTable } from './table.ts';

/** What an API looks like at the moment of a scrape; undefined where there is nothing to tell yet. */
export interface ApiReading {
  readonly api: Api;
  readonly up: boolean;
  readonly pacePerSecond: number;
  readonly budgetRemaining: number | undefined;
  /** Requests allowed in 24 hours; undefined without a limit. */
  readonly budgetLimit: number | undefined;
  readonly lastSuccessSeconds: number | undefined;
  readonly sweepSeconds: number | undefined;
  readonly effectiveIntervalSeconds: number;
  readonly configuredIntervalSeconds: number;
  /** How many tasks rest, by reason. */
  readonly resting: ReadonlyMap<string, number>;
  /** Tasks that have missed more than one poll. */
  readonly overdue: number;
  readonly medianAgeSeconds: number | undefined;
  readonly worstAgeSeconds: number | undefined;
  readonly computedWorstAgeSeconds: number;
}

/** What the exporter looks like at the moment of a scrape. */
export interface ExporterReading {
  readonly apis: readonly ApiReading[];
  readonly samples: number;
  readonly eventMemory:
    | {
        readonly size: number;
        readonly evicted: number;
        readonly limits?: { readonly perPair: number; readonly total: number };
      }
    | undefined;
  /** What the file acceleration service's bookmarks say of events that never came. */
  readonly bookmarks?: { readonly missed: number; readonly isSuspicious: boolean } | undefined;
  /** How the state file fares; undefined without one. */
  readonly state?: { readonly errors: number } | undefined;
  /** How the web configuration fares; undefined without one. */
  readonly web?:
    | {
        readonly isGood: boolean;
        readonly lastSuccessSeconds: number;
        readonly expirySeconds: number | undefined;
        readonly hasTls: boolean;
        readonly hasAuth: boolean;
      }
    | undefined;
  /** Connections closed against the will of the client, by reason. */
  readonly closed?: ReadonlyMap<string, number>;
}

/** Hears of every request of one API. */
export interface RequestCounts {
  started(operation: string): void;
  ended(operation: string, code: string, seconds: number): void;
  throttled(): void;
}

const REASONS: readonly DropReason[] = ['absent', 'invalid', 'implausible', 'record', 'duplicate', 'label'];

/** prom-client's gauges whose names say that they are counters: promtool rejects them, and their parts are there. */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/**
 * What the exporter says about itself: the only place that knows prom-client. Its registry is our own, and its numbers
 * are written by our own writer, for a registry knows one format and a scraper may ask for either.
 */
export class OwnMetrics {
  readonly #registry = new Registry();
  readonly #up = this.#gauge(ownTable.up);
  readonly #requests = this.#counter(ownTable.requests);
  readonly #requestDuration = this.#histogram(ownTable.requestDuration, [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]);
  readonly #inFlight = this.#gauge(ownTable.requestsInFlight);
  readonly #throttled = this.#counter(ownTable.throttled);
  readonly #pace = this.#gauge(ownTable.pace);
  readonly #budget = this.#gauge(ownTable.budgetRemaining);
  readonly #budgetLimit = this.#gauge(ownTable.budgetLimit);
  readonly #lastSuccess = this.#gauge(ownTable.lastSuccess);
  readonly #sweep = this.#gauge(ownTable.sweepDuration);
  readonly #effectiveInterval = this.#gauge(ownTable.effectiveInterval);
  readonly #configuredInterval = this.#gauge(ownTable.configuredInterval);
  readonly #resting = this.#gauge(ownTable.tasksResting);
  readonly #overdue = this.#gauge(ownTable.tasksOverdue);
  readonly #dataAge = this.#gauge(ownTable.dataAge);
  readonly #worstDataAge = this.#gauge(ownTable.worstDataAge);
  readonly #samples = this.#gauge(ownTable.samples);
  readonly #dropped = this.#counter(ownTable.samplesDropped);
  readonly #eventMemory = this.#gauge(ownTable.eventMemory);
  readonly #evicted = this.#counter(ownTable.eventMemoryEvicted);
  readonly #eventMemoryLimit = this.#gauge(ownTable.eventMemoryLimit);
  readonly #bookmarksMissed = this.#counter(ownTable.bookmarksMissed);
  readonly #keyShared = this.#gauge(ownTable.clientKeyShared);
  readonly #stateErrors = this.#counter(ownTable.stateFileErrors);
  readonly #webConfigGood = this.#gauge(ownTable.webConfigGood);
  readonly #webConfigRead = this.#gauge(ownTable.webConfigRead);
  readonly #webCertificateExpiry = this.#gauge(ownTable.webCertificateExpiry);
  readonly #webTls = this.#gauge(ownTable.webTls);
  readonly #webAuth = this.#gauge(ownTable.webAuth);
  readonly #closed = this.#counter(ownTable.connectionsClosed);

  /** `build`: what is running. `apis`: those that are configured; they have their series from the start. */
  constructor(
    build: { readonly version: string; readonly revision: string; readonly node_version: string },
    apis: readonly Api[],
  ) {
    this.#gauge(ownTable.buildInfo).set(build, 1);
    for (const api of apis) {
      this.#up.set({ api }, 0);
      this.#inFlight.set({ api }, 0);
      this.#throttled.inc({ api }, 0);
      for (const reason of REASONS) this.#dropped.inc({ api, reason }, 0);
    }
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
  }

  /** Counts the requests of one API. */
  requestsOf(api: Api): RequestCounts {
    return {
      started: () => this.#inFlight.inc({ api }),
      ended: (operation, code, seconds) => {
        this.#inFlight.dec({ api });
        this.#requests.inc({ api, operation, code });
        this.#requestDuration.observe({ api, operation }, seconds);
      },
      throttled: () => this.#throttled.inc({ api }),
    };
  }

  /** Counts values that gave no sample. */
  dropped(api: Api, reason: DropReason, count: number): void {
    this.#dropped.inc({ api, reason }, count);
  }

  /** The exposition of it all, with the numbers of this moment. */
  async render(format: Format, reading: ExporterReading): Promise<string> {
    this.#take(reading);
    let text = '';
    for (const metric of await this.#registry.getMetricsAsJSON()) {
      const { name, help, type, values } = metric as unknown as ClientMetric;
      if (values.length === 0) continue;
      const own = Object.values<OwnMetric>(ownTable).find((row) => row.name === name);
      text += headerLines({ name, help, type, unit: own?.unit }, format);
      for (const { metricName, labels, value } of values) {
        const written = labels.le === undefined ? labels : { ...labels, le: bound(labels.le) };
        text += `${metricName ?? name}${labelText(texts(written), { cut: 0, duplicates: 0 })} ${formatValue(value)}\n`;
      }
    }
    return text;
  }

  #take({ apis, samples, eventMemory, bookmarks, state, web, closed = new Map() }: ExporterReading): void {
    for (const reading of apis) {
      const { api } = reading;
      this.#up.set({ api }, reading.up ? 1 : 0);
      this.#pace.set({ api }, reading.pacePerSecond);
      this.#effectiveInterval.set({ api }, reading.effectiveIntervalSeconds);
      this.#configuredInterval.set({ api }, reading.configuredIntervalSeconds);
      for (const [reason, count] of reading.resting) this.#resting.set({ api, reason }, count);
      this.#overdue.set({ api }, reading.overdue);
      this.#worstDataAge.set({ api }, reading.computedWorstAgeSeconds);
      const ages = { median: reading.medianAgeSeconds, worst: reading.worstAgeSeconds };
      for (const [statistic, age] of Object.entries(ages)) {
        if (age === undefined) this.#dataAge.remove({ api, statistic });
        else this.#dataAge.set({ api, statistic }, age);
      }
      if (reading.budgetRemaining !== undefined) this.#budget.set({ api }, reading.budgetRemaining);
      if (reading.budgetLimit !== undefined) this.#budgetLimit.set({ api }, reading.budgetLimit);
      if (reading.lastSuccessSeconds !== undefined) this.#lastSuccess.set({ api }, reading.lastSuccessSeconds);
      if (reading.sweepSeconds !== undefined) this.#sweep.set({ api }, reading.sweepSeconds);
    }
    this.#samples.set(samples);
    setTotal(this.#stateErrors, state?.errors ?? 0);
    setTotal(this.#bookmarksMissed, bookmarks?.missed ?? 0);
    this.#keyShared.set(bookmarks?.isSuspicious ? 1 : 0);
    this.#takeWeb(web);
    this.#closed.reset();
    for (const [reason, count] of closed) this.#closed.inc({ reason }, count);
    if (eventMemory === undefined) return;
    this.#eventMemory.set(eventMemory.size);
    this.#eventMemoryLimit.set({ scope: 'pair' }, eventMemory.limits?.perPair ?? 0);
    this.#eventMemoryLimit.set({ scope: 'all' }, eventMemory.limits?.total ?? 0);
    setTotal(this.#evicted, eventMemory.evicted);
  }

  /** What there is none of is not told: prom-client shows a gauge without labels as 0 until it is removed. */
  #takeWeb(web: ExporterReading['web']): void {
    const values = [
      [this.#webConfigGood, web && (web.isGood ? 1 : 0)],
      [this.#webConfigRead, web?.lastSuccessSeconds],
      [this.#webCertificateExpiry, web?.expirySeconds],
      [this.#webTls, web?.hasTls ? 1 : 0],
      [this.#webAuth, web?.hasAuth ? 1 : 0],
    ] as const;
    for (const [gauge, value] of values) {
      if (value === undefined) gauge.remove();
      else gauge.set(value);
    }
  }

  #gauge({ name, help, labels }: OwnMetric): Gauge<string> {
    return new Gauge({ name, help, labelNames: [...labels], registers: [this.#registry] });
  }

  #counter({ name, help, labels }: OwnMetric): Counter<string> {
    return new Counter({ name, help, labelNames: [...labels], registers: [this.#registry] });
  }

  #histogram({ name, help, labels }: OwnMetric, buckets: number[]): Histogram<string> {
    return new Histogram({ name, help, labelNames: [...labels], buckets, registers: [this.#registry] });
  }
}

/** A counter that somebody else counts. */
function setTotal(counter: Counter<string>, total: number): void {
  counter.reset();
  counter.inc(total);
}

/** What prom-client gives for a metric; its own types leave the names of histogram lines out. */
interface ClientMetric {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram' | 'summary';
  readonly values: readonly {
    readonly metricName?: string;
    readonly labels: Readonly<Record<string, string | number>>;
    readonly value: number;
  }[];
}

function bound(le: string | number): string {
  return typeof le === 'number' ? formatBound(le) : le;
}

function texts(labels: Readonly<Record<string, string | number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}

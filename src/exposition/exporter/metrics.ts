import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ServiceName } from '../../contract/poll-result.ts';
import type { OwnMetric } from '../../contract/service-details.ts';
import type { Labels } from '../../metrics/family.ts';
import { formatBound } from '../../metrics/histogram.ts';
import type { DropReason } from '../../metrics/samples.ts';
import { type FamilyHeader, type Format, formatLabels, formatValue, headerLines } from '../format.ts';
import {
  type ExporterMetric,
  type ExporterStatus,
  exporterFamilies,
  exporterMetrics,
  type MetricValues,
} from './table.ts';

interface EndedRequest {
  readonly operation: string;
  readonly code: string;
  readonly seconds: number;
}

/** Upper bounds of the buckets of request durations, in seconds. */
const DURATION_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const REASONS: readonly DropReason[] = ['invalid', 'record', 'duplicate', 'late', 'full'];

/**
 * Gauges of prom-client that have names of counters, which promtool rejects. They are left out: other gauges have their
 * parts.
 */
const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/**
 * The exporter's own metrics: the only place that uses prom-client, which counts events and provides Node's own metrics.
 * Our writer writes its values, as it writes all others, because prom-client's own writer does four things that we do not
 * want: it has one format for each registry; once it has written OpenMetrics, it uses the OpenMetrics names of counters in
 * both formats; it writes no UNIT; and it writes headers of metrics without samples, of which there are 30 at the start.
 */
export class ExporterMetrics {
  readonly #families: ReturnType<typeof exporterFamilies>;
  readonly #registry = new Registry();
  readonly #requests = new Counter(this.#settings(exporterMetrics.requests));
  readonly #requestDuration = new Histogram({
    ...this.#settings(exporterMetrics.requestDuration),
    buckets: DURATION_BOUNDS,
  });
  readonly #dropped = new Counter(this.#settings(exporterMetrics.samplesDropped));
  readonly #labelsShortened = new Counter(this.#settings(exporterMetrics.labelsShortened));

  /** `build`: the running version. `apis`: the configured ones, which have their series from the start. */
  constructor(
    build: { readonly version: string; readonly revision: string; readonly node_version: string },
    apis: readonly ServiceName[],
    ownMetrics: readonly OwnMetric[] = [],
  ) {
    this.#families = exporterFamilies(ownMetrics);
    new Gauge(this.#settings(exporterMetrics.buildInfo)).set(build, 1);
    for (const api of apis) {
      for (const reason of REASONS) this.#dropped.inc({ api, reason }, 0);
      this.#labelsShortened.inc({ api }, 0);
    }
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
  }

  recordRequest(api: ServiceName, { operation, code, seconds }: EndedRequest): void {
    this.#requests.inc({ api, operation, code });
    this.#requestDuration.observe({ api, operation }, seconds);
  }

  dropped(api: ServiceName, reason: DropReason, count: number): void {
    // A sample with a shortened label is exposed, so it does not count as dropped.
    if (reason === 'label') this.#labelsShortened.inc({ api }, count);
    else this.#dropped.inc({ api, reason }, count);
  }

  /** Returns the exposition of all metrics about the exporter: the table in its order, then those of Node.js. */
  async render(format: Format, status: ExporterStatus): Promise<string> {
    const counted = new Map((await this.#registry.getMetricsAsJSON()).map((metric) => [metric.name, metric] as const));
    let text = '';
    for (const row of this.#families) {
      const lines = row.read ? valueLines(row.name, row.read(status)) : clientLines(counted.get(row.name));
      if (lines !== '') text += headerLines(row, format) + lines;
      counted.delete(row.name);
    }
    for (const metric of counted.values()) {
      const lines = clientLines(metric);
      const { name, help } = metric;
      // prom-client declares numbers for the types, and returns their names.
      const type = String(metric.type) as FamilyHeader['type'];
      if (lines !== '') text += headerLines({ name, help, type }, format) + lines;
    }
    return text;
  }

  #settings({ name, help, labels = [] }: ExporterMetric) {
    return { name, help, labelNames: [...labels], registers: [this.#registry] };
  }
}

type ClientMetric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number];

function valueLines(name: string, values: MetricValues): string {
  if (values === undefined || typeof values === 'number') return line(name, {}, values);
  return [...values].map(([labels, value]) => line(name, labels, value)).join('');
}

function clientLines(metric: ClientMetric | undefined): string {
  if (metric === undefined) return '';
  return metric.values.map((value) => line(lineName(value, metric.name), texts(value.labels), value.value)).join('');
}

/** A histogram has lines of three names, which prom-client's type of a value does not show. */
function lineName(value: object, ofMetric: string): string {
  return 'metricName' in value && typeof value.metricName === 'string' ? value.metricName : ofMetric;
}

function line(name: string, labels: Labels, value: number | null | undefined): string {
  return value === undefined || value === null ? '' : `${name}${formatLabels(labels)} ${formatValue(value)}\n`;
}

/** prom-client's labels, with bounds of buckets as both formats write them. */
function texts(labels: Readonly<Partial<Record<string, string | number>>>): Labels {
  return Object.fromEntries(
    Object.entries(labels).map(([name, value]) => [
      name,
      name === 'le' && typeof value === 'number' ? formatBound(value) : String(value),
    ]),
  );
}

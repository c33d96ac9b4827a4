import { ConfigError } from '../runtime/errors.ts';
import { isObject } from './exchange.ts';
import type { Variations } from './variations.ts';

/** The variations of the mock services that correspond to each answer in a doctor's report. */
const ANSWERS: Readonly<Record<string, Readonly<Record<string, Partial<Variations>>>>> = {
  metrics_shape: {
    array: { metricsShape: 'array' },
    object: { metricsShape: 'object' },
    several_objects: { metricsShape: 'split' },
  },
  delivery: {
    bookmark: { delivery: 'incremental' },
    overlapping: { delivery: 'overlapping' },
    window: { delivery: 'full' },
    bookmark_shared: { clientKeyHeader: 'X-Other-client-key' },
  },
  new_key_reach: {
    minutes: { freshHistoryMs: 300_000 },
    an_hour: { freshHistoryMs: 3_600_000 },
    a_day: { freshHistoryMs: 86_400_000 },
    more_than_a_day: { freshHistoryMs: 3 * 86_400_000 },
  },
  switched_off_group: { empty: { switchedOff: 'empty' }, missing: { switchedOff: 'missing' } },
  token_lifetime: {
    below_10_minutes: { tokenLifetimeMs: 300_000 },
    up_to_an_hour: { tokenLifetimeMs: 3_600_000 },
    up_to_a_day: { tokenLifetimeMs: 86_400_000 },
    more_than_a_day: { tokenLifetimeMs: 7 * 86_400_000 },
  },
  token_lifetime_source: { expires_in: { expiresIn: 900 }, jwt: { jwt: 'exp' }, nothing: { jwt: 'none' } },
  ratio_unit: { percent: { ratioUnit: 'percent' }, ratio: { ratioUnit: 'ratio' } },
  memory_unit: { kilobytes: { memoryUnit: 'kilobytes' }, bytes: { memoryUnit: 'bytes' } },
  time_unit: { milliseconds: { timeUnit: 'milliseconds' }, seconds: { timeUnit: 'seconds' } },
  latency_unit: { milliseconds: { latencyUnit: 'milliseconds' }, seconds: { latencyUnit: 'seconds' } },
  load_names: {
    longterm: { loadNames: 'longterm' },
    minutes_in_words: { loadNames: 'fifteen_minute_load_average' },
    minutes_in_digits: { loadNames: '15min' },
  },
  unfit_memory_series: {
    empty: { memoryMismatch: 'empty' },
    '404': { memoryMismatch: '404' },
    '422': { memoryMismatch: '422' },
  },
  bin_size: { honoured: { binSize: 'honoured' }, ignored: { binSize: 'ignored' } },
  newest_bin: { null: { newestNull: true } },
  counts: { per_bin: { counts: 'bin' }, per_second: { counts: 'second' } },
  longest_period: {
    P30D: { longestPeriodMs: 30 * 86_400_000 },
    P7D: { longestPeriodMs: 7 * 86_400_000 },
    P1D: { longestPeriodMs: 86_400_000 },
  },
  connection_appliance_id: { edge_id: { connectionIds: 'edge' }, serial: { connectionIds: 'serial' } },
};

/**
 * Returns variations with which the mock services respond like the account of a doctor's report. Throws a ConfigError
 * for other text.
 */
export function variationsFromReport(report: unknown): Partial<Variations> {
  if (!isObject(report) || report.format !== 'filer-exporter-report/1' || !isObject(report.services)) {
    throw new ConfigError(['--like: expected a report that --doctor --report has written']);
  }
  const services = Object.values(report.services).filter(isObject);
  const variants = services.flatMap(({ variants }) => (Array.isArray(variants) ? variants.filter(isObject) : []));
  const changes = variants.map(({ question, answer }) => ANSWERS[String(question)]?.[String(answer)] ?? {});
  const forbidden = services.flatMap(({ operations }) => (isObject(operations) ? forbiddenIn(operations) : []));
  return Object.assign({}, ...changes, forbidden.length > 0 ? { forbidden } : {});
}

function forbiddenIn(operations: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(operations).flatMap(([name, operation]) =>
    isObject(operation) && isObject(operation.answers) && Object.keys(operation.answers).join() === '403'
      ? [name.replace(/^account_(?=license$)/, '')]
      : [],
  );
}

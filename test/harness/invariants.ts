/** What holds in every scenario, whatever happens in it. */
import { HOUR, SECOND } from './duration.ts';
import { COUNTED, type Evidence, type Task } from './evidence.ts';
import type { Scrape, ScrapedSample } from './scrape.ts';

export type Invariant = 'stale' | 'up' | 'polled' | 'counters' | 'requests' | 'log';

/** One broken invariant, for people. */
export type Violation = readonly [invariant: Invariant, text: string];

export interface Check {
  readonly scrape: Scrape;
  readonly task: Task;
  readonly evidence: Evidence;
  /** How many appliances there have been. */
  readonly appliancesEver: number;
  /** The serials of those that have been there for so long that the exporter must know them. */
  readonly known: readonly string[];
  /** The longest interval that the limits allowed lately, in milliseconds. */
  readonly effectiveMs: number;
}

export const STALE_AFTER = 3;
/** A poll under way, and the time between two scrapes. */
const SLACK_MS = 90 * SECOND;
/** A poll may be so much later than its interval says. */
const LATE = 1.6;
/** Of a hundred requests of healthy polls so many more may be repetitions. */
const REPETITIONS = { share: 0.15, atOnce: 30 } as const;

export function* violations(check: Check): Generator<Violation> {
  yield* staleValues(check);
  yield* wrongUp(check);
  yield* neglected(check);
  yield* countersTooHigh(check);
  yield* tooManyRequests(check);
}

/** A value that was not delivered for STALE_AFTER intervals is not shown. */
function* staleValues({ scrape, task, evidence, effectiveMs }: Check): Generator<Violation> {
  for (const { labels, value } of scrape.all('filer_appliance_series_timestamp_seconds')) {
    const series = `${labels.serial}/${labels.series}`;
    const age = evidence.sinceDelivery(series, value);
    if (age !== undefined && age > STALE_AFTER * effectiveMs + SLACK_MS)
      yield ['stale', `${series} is shown, and was delivered ${age / SECOND} s ago`];
  }
  const age = evidence.sinceResponse('gfa');
  const isShown = scrape.value('filer_gfa_request_timestamp_seconds') !== undefined;
  if (isShown && age > STALE_AFTER * task.dataMs + SLACK_MS)
    yield ['stale', `/data is shown, and was delivered ${age / SECOND} s ago`];
}

/** What is up has responded within STALE_AFTER intervals and one more. While the portal is down, no appliance has a state. */
function* wrongUp({ scrape, task, evidence, effectiveMs }: Check): Generator<Violation> {
  const isUp = (api: string) => scrape.value('filer_api_up', { api }) === 1;
  const check = function* (what: string, age: number, intervalMs: number): Generator<Violation> {
    if (age > (STALE_AFTER + 1) * intervalMs + SLACK_MS)
      yield ['up', `${what} is up, and silent for ${age / SECOND} s`];
  };
  if (isUp('gfa')) yield* check('gfa', evidence.sinceResponse('gfa'), task.dataMs);
  // Without appliances in the inventory, the inventory says that the portal is up.
  const isEmpty = scrape.all('filer_appliance_info').length === 0;
  if (isUp('portal') && task.series.length > 0 && !isEmpty)
    yield* check('the portal', evidence.sinceResponse('portal'), effectiveMs);
  const states = scrape.all('filer_appliance_up');
  if (!isUp('portal') && states.length > 0)
    yield ['up', `${states.length} appliances have a state, and the portal is down`];
  for (const { labels } of states.filter(({ value }) => value === 1))
    yield* check(String(labels.serial), evidence.sinceRecord(String(labels.serial)), effectiveMs);
}

/** What nothing is wrong with is requested at its interval, shown and up, whatever happens elsewhere. */
function* neglected({ scrape, task, evidence, known, effectiveMs }: Check): Generator<Violation> {
  const unpolled = function* (operation: string, withinMs: number): Generator<Violation> {
    const age = evidence.sinceRequest(operation);
    if (age > withinMs + SLACK_MS) yield ['polled', `${operation} was requested ${age / SECOND} s ago`];
  };
  if (task.gfa && evidence.quietMs('gfa', '/data') > 3 * task.dataMs) {
    yield* unpolled('/data', LATE * task.dataMs);
    if (scrape.value('filer_gfa_request_timestamp_seconds') === undefined) yield ['polled', '/data is not shown'];
    if (scrape.value('filer_api_up', { api: 'gfa' }) !== 1) yield ['up', 'gfa is down, and nothing is wrong'];
  }
  if (task.series.length === 0) return;
  if (evidence.quietMs('portal', '/serials') > 2 * task.discoveryMs)
    yield* unpolled('/serials', LATE * task.discoveryMs);
  const shown = new Set(
    scrape.all('filer_appliance_series_timestamp_seconds').map(({ labels }) => `${labels.serial}/${labels.series}`),
  );
  const up = new Set(
    scrape.all('filer_appliance_up').flatMap(({ labels, value }) => (value === 1 ? [labels.serial] : [])),
  );
  for (const serial of known) {
    for (const series of task.series) {
      const operation = `/telemetry/appliances/${serial}/${series}`;
      // What an appliance never had is suspended.
      if (!evidence.hasDelivered(`${serial}/${series}`)) continue;
      if (evidence.quietMs('portal', operation) < 2.5 * effectiveMs + SLACK_MS) continue;
      yield* unpolled(operation, effectiveMs + 0.5 * task.intervalMs);
      if (!shown.has(`${serial}/${series}`)) yield ['polled', `${serial}/${series} is not shown`];
      if (!up.has(serial)) yield ['up', `${serial} is down, and nothing is wrong`];
      if (scrape.value('filer_api_up', { api: 'portal' }) !== 1)
        yield ['up', 'the portal is down, and nothing is wrong'];
    }
  }
}

function* countersTooHigh({ scrape, evidence }: Check): Generator<Violation> {
  for (const kind of Object.keys(COUNTED) as (keyof typeof COUNTED)[]) {
    const [counted, most] = [scrape.sum(COUNTED[kind]), evidence.mostCounted(kind)];
    if (counted > most) yield ['counters', `${COUNTED[kind]} is ${counted}, and ${most} were delivered`];
  }
}

/** The limit holds in each window, and an hour takes hardly more requests than health. */
function* tooManyRequests({ task, evidence, appliancesEver }: Check): Generator<Violation> {
  const { requests, windowMs } = task.limit;
  const sent = evidence.requests.filter(({ service }) => service === 'portal').map(({ at }) => at);
  const now = Math.max(evidence.startedAt, ...sent.slice(-1));
  for (const [index, at] of sent.entries()) {
    const oldest = sent[index - requests];
    if (oldest !== undefined && at > now - HOUR && at - oldest < windowMs - 1)
      yield ['requests', `more than ${requests} requests within ${windowMs / SECOND} s`];
  }
  const lately = evidence.requests.filter(
    ({ at, path }) => at > now - HOUR && path.startsWith('/telemetry/appliances/'),
  );
  const starts = evidence.startedAt > now - HOUR ? 2 : 1;
  const healthy = appliancesEver * task.series.length * (HOUR / task.intervalMs + starts);
  const most = (1 + REPETITIONS.share) * healthy + REPETITIONS.atOnce;
  if (lately.length > most) yield ['requests', `${lately.length} requests of telemetry in an hour, ${most} at most`];
}

/** What a counter is of may be renamed while it goes on: these labels are left out where an id stands beside them. */
const NAMES: Readonly<Record<string, readonly string[]>> = { filer: ['filer_guid', 'serial'], volume: ['volume_guid'] };

/** No counter of one process falls or leaves. */
export class Counters {
  #values = new Map<string, number>();

  /** Another process starts, and counts from zero. */
  reset(): void {
    this.#values = new Map();
  }

  *violations(scrape: Scrape): Generator<Violation> {
    const values = new Map<string, number>();
    for (const [family, type] of scrape.types) {
      if (/^(?:nodejs|process)_/.test(family)) continue;
      const names = type === 'counter' ? [family] : type === 'histogram' ? [`${family}_count`] : [];
      for (const sample of names.flatMap((name) => scrape.all(name))) values.set(keyOf(sample), sample.value);
    }
    for (const [key, before] of this.#values) {
      const value = values.get(key);
      if (value === undefined) yield ['counters', `${key} has left`];
      else if (value < before) yield ['counters', `${key} fell from ${before} to ${value}`];
    }
    this.#values = values;
  }
}

function keyOf({ name, labels }: ScrapedSample): string {
  const kept = Object.entries(labels).filter(([label]) => !NAMES[label]?.some((id) => id in labels));
  return `${name} ${JSON.stringify(kept)}`;
}

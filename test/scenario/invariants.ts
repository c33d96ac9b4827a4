/** What holds in every scenario, whatever happens in it. */
import type { SeenRequest, SimulatedServices } from '../../src/demo/services.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { GfaSettings } from '../../src/services/gfa/configuration.ts';
import type { PortalSettings } from '../../src/services/portal/settings.ts';
import { HOUR, MINUTE, SECOND } from '../harness/duration.ts';
import type { BothConfig } from '../harness/load-config.ts';
import type { Scrape, ScrapedSample } from '../harness/scrape.ts';
import { COUNTED, type Evidence } from './evidence.ts';

export const INVARIANTS = ['stale', 'up', 'polled', 'counters', 'requests', 'log'] as const;

export type Invariant = (typeof INVARIANTS)[number];

/** One broken invariant, for people. */
type Violation = readonly [invariant: Invariant, text: string];

interface Check {
  readonly scrape: Scrape;
  /** The one before, of the same process. */
  readonly before: Scrape | undefined;
  readonly gfa: GfaSettings | undefined;
  readonly portal: PortalSettings | undefined;
  readonly evidence: Evidence;
  /** The requests of the portal in the last hour. */
  readonly sent: readonly SeenRequest[];
  /** How many appliances there have been. */
  readonly appliancesEver: number;
  /** The serials of those that have been there for so long that the exporter must know them. */
  readonly known: readonly string[];
  /** The longest interval that the limits allowed lately, in milliseconds. */
  readonly effectiveMs: number;
  /** For how long the portal has been up. */
  readonly portalUpMs: number;
}

const STALE_AFTER = 3;
/** A poll under way, and the time between two scrapes. */
const SLACK_MS = 90 * SECOND;
/** A poll may be so much later than its interval says. */
const LATE = 1.6;
/** Of a hundred requests of healthy polls so many more may be repetitions. */
const REPETITIONS = { share: 0.15, atOnce: 30 } as const;

/** Compares each scrape with the configuration and the evidence, and keeps what was broken. */
export class Invariants {
  /** Each violation, and what it violates. */
  readonly broken = new Map<string, Invariant>();
  readonly gfa: GfaSettings | undefined;
  readonly portal: PortalSettings | undefined;
  readonly #evidence: Evidence;
  readonly #services: SimulatedServices;
  /** That of the services. */
  readonly #clock: Clock;
  /** Each `up`, how often it changed, and when last. */
  readonly #ups = new Map<string, { readonly value: number; readonly changes: number; readonly since: number }>();
  /** The effective intervals of the last scrapes. */
  #effective: { readonly at: number; readonly ms: number }[] = [];
  #before: Scrape | undefined;

  constructor(config: BothConfig, evidence: Evidence, services: SimulatedServices, clock: Clock) {
    this.gfa = config.gfa;
    this.portal = config.portal;
    this.#evidence = evidence;
    this.#services = services;
    this.#clock = clock;
  }

  /** Another process begins. */
  started(): void {
    this.#before = undefined;
  }

  check(scrape: Scrape): void {
    const { gfa, portal } = this;
    const now = this.#clock.now();
    const effectiveMs = this.#effectiveMs(scrape, now);
    this.#takeUps(scrape, now);
    const { appliances, everyAppliance } = this.#services.fleet;
    const knownMs = 1.5 * (portal?.discoveryIntervalMs ?? 0) + 2 * effectiveMs;
    const check: Check = {
      scrape,
      before: this.#before,
      gfa,
      portal,
      evidence: this.#evidence,
      sent: this.#services.requests().filter(({ service, at }) => service === 'portal' && at > now - HOUR),
      appliancesEver: everyAppliance.length,
      known: appliances.filter(({ joinedAt }) => now - joinedAt > knownMs).map(({ serial }) => serial),
      effectiveMs,
      portalUpMs: now - (this.#ups.get('filer_api_up of portal')?.since ?? now),
    };
    this.#before = scrape;
    for (const rule of [staleValues, wrongUp, neglected, wrongCounters, tooManyRequests])
      for (const [invariant, violation] of rule(check)) this.violate(invariant, violation);
  }

  /** Checks the whole scenario, which changed something so many times. */
  end(acts: number, lines: number, mostLines: number): void {
    for (const [up, { changes }] of this.#ups) {
      if (changes > acts + 1) this.violate('up', `${up} changed ${changes} times in ${acts} acts`);
    }
    if (lines > mostLines) this.violate('log', `${lines} lines, ${mostLines} at most`);
  }

  violate(invariant: Invariant, violation: string): void {
    const minute = Math.round(this.#clock.monotonic() / MINUTE);
    if (this.broken.size < 100) this.broken.set(`${invariant}: ${violation}, in minute ${minute}`, invariant);
  }

  /** The longest interval that the limits allowed lately. */
  #effectiveMs(scrape: Scrape, now: number): number {
    const seconds = scrape.value('filer_exporter_effective_interval_seconds', { api: 'portal' }) ?? 0;
    this.#effective.push({ at: now, ms: Math.max(this.portal?.intervalMs ?? 0, seconds * SECOND) });
    this.#effective = this.#effective.filter(({ at, ms }) => now - at <= (STALE_AFTER + 1) * ms + 2 * MINUTE);
    return Math.max(...this.#effective.map(({ ms }) => ms));
  }

  #takeUps(scrape: Scrape, now: number): void {
    for (const { name, labels, value } of scrape.all(/^filer_(?:api|appliance)_up$/)) {
      const up = `${name} of ${labels.api ?? labels.serial}`;
      const { value: before, changes, since } = this.#ups.get(up) ?? { value, changes: 0, since: now };
      this.#ups.set(up, before === value ? { value, changes, since } : { value, changes: changes + 1, since: now });
    }
  }
}

const CURRENT = 'current_appliance_performance';

/** The series that come as lists of records, at the interval of the portal. */
function seriesOf({ portal }: Check): readonly string[] {
  const { series = [], intervalMs: usualMs } = portal ?? {};
  const usual = series.filter(({ name, intervalMs }) => intervalMs === usualMs && name !== CURRENT);
  return usual.map(({ name }) => name);
}

/** A value that was not delivered for STALE_AFTER intervals is not shown. */
function* staleValues(check: Check): Generator<Violation> {
  const { scrape, gfa, evidence, effectiveMs } = check;
  const late = function* (what: string, age: number, intervalMs: number): Generator<Violation> {
    if (age > STALE_AFTER * intervalMs + SLACK_MS)
      yield ['stale', `${what} is shown, and was delivered ${age / SECOND} s ago`];
  };
  for (const series of shownSeries(scrape)) {
    if (seriesOf(check).some((name) => series.endsWith(`/${name}`)))
      yield* late(series, evidence.sinceDelivery(series), effectiveMs);
  }
  if (gfa !== undefined && scrape.value('filer_gfa_request_timestamp_seconds') !== undefined)
    yield* late('/data', evidence.sinceDelivery('gfa'), gfa.intervalMs);
}

/** The series that a scrape has values of, as `serial/series`. */
function shownSeries(scrape: Scrape): readonly string[] {
  return scrape
    .all('filer_appliance_series_timestamp_seconds')
    .map(({ labels }) => `${labels.serial}/${labels.series}`);
}

/** What is up has responded within STALE_AFTER intervals and one more. While the portal is down, no appliance has a state. */
function* wrongUp(check: Check): Generator<Violation> {
  const { scrape, gfa, evidence, effectiveMs, portalUpMs } = check;
  const isUp = (api: string) => scrape.value('filer_api_up', { api }) === 1;
  const silent = function* (what: string, age: number, intervalMs: number): Generator<Violation> {
    if (age > (STALE_AFTER + 1) * intervalMs + SLACK_MS)
      yield ['up', `${what} is up, and silent for ${age / SECOND} s`];
  };
  if (gfa !== undefined && isUp('gfa')) yield* silent('gfa', evidence.sinceDelivery('gfa'), gfa.intervalMs);
  const series = seriesOf(check);
  // Without appliances in the inventory, the inventory says that the portal is up.
  const isEmpty = scrape.all('filer_appliance_info').length === 0;
  if (isUp('portal') && series.length > 0 && !isEmpty)
    yield* silent('the portal', evidence.sinceDelivery('portal'), effectiveMs);
  const states = scrape.all('filer_appliance_up');
  if (!isUp('portal') && states.length > 0)
    yield ['up', `${states.length} appliances have a state, and the portal is down`];
  for (const { labels } of states.filter(({ value }) => value === 1)) {
    // An outage of the portal says nothing about an appliance.
    const age = Math.min(portalUpMs, ...series.map((name) => evidence.sinceDelivery(`${labels.serial}/${name}`)));
    yield* silent(String(labels.serial), age, effectiveMs);
  }
}

/** What nothing is wrong with is requested at its interval, shown and up, whatever happens elsewhere. */
function* neglected(check: Check): Generator<Violation> {
  const { scrape, gfa, portal, evidence, known, effectiveMs } = check;
  const unpolled = function* (operation: string, withinMs: number): Generator<Violation> {
    const age = evidence.sinceRequest(operation);
    if (age > withinMs + SLACK_MS) yield ['polled', `${operation} was requested ${age / SECOND} s ago`];
  };
  if (gfa !== undefined && evidence.quietMs('gfa', '/data') > 3 * gfa.intervalMs) {
    yield* unpolled('/data', LATE * gfa.intervalMs);
    if (scrape.value('filer_gfa_request_timestamp_seconds') === undefined) yield ['polled', '/data is not shown'];
    if (scrape.value('filer_api_up', { api: 'gfa' }) !== 1) yield ['up', 'gfa is down, and nothing is wrong'];
  }
  if (portal === undefined) return;
  if (evidence.quietMs('portal', '/serials') > 2 * portal.discoveryIntervalMs)
    yield* unpolled('/serials', LATE * portal.discoveryIntervalMs);
  const shown = new Set(shownSeries(scrape));
  const isPortalUp = scrape.value('filer_api_up', { api: 'portal' }) === 1;
  const all = known.flatMap((serial) => seriesOf(check).map((name) => ({ serial, series: `${serial}/${name}` })));
  for (const { serial, series } of all) {
    const operation = `/telemetry/appliances/${series}`;
    // What an appliance never had is suspended.
    if (evidence.sinceDelivery(series) === Number.POSITIVE_INFINITY) continue;
    if (evidence.quietMs('portal', operation) < 2.5 * effectiveMs + SLACK_MS) continue;
    yield* unpolled(operation, effectiveMs + 0.5 * portal.intervalMs);
    if (!shown.has(series)) yield ['polled', `${series} is not shown`];
    if (scrape.value('filer_appliance_up', { serial }) !== 1) yield ['up', `${serial} is down, and nothing is wrong`];
    if (!isPortalUp) yield ['up', 'the portal is down, and nothing is wrong'];
  }
}

/** No counter of one process falls or leaves, and none of events is higher than what was delivered. */
function* wrongCounters({ scrape, before, evidence }: Check): Generator<Violation> {
  for (const [group, metric] of Object.entries(COUNTED)) {
    const [counted, most] = [scrape.sum(metric), evidence.mostCounted(group)];
    if (counted > most) yield ['counters', `${metric} is ${counted}, and ${most} were delivered`];
  }
  const values = countersIn(scrape);
  for (const [key, earlier] of countersIn(before)) {
    const value = values.get(key);
    if (value === undefined) yield ['counters', `${key} has left`];
    else if (value < earlier) yield ['counters', `${key} fell from ${earlier} to ${value}`];
  }
}

function countersIn(scrape: Scrape | undefined): ReadonlyMap<string, number> {
  const families = [...(scrape?.types ?? [])].filter(([family]) => !/^(?:nodejs|process)_/.test(family));
  const names = families.flatMap(([family, type]) =>
    type === 'counter' ? family : type === 'histogram' ? `${family}_count` : [],
  );
  const samples = names.flatMap((name) => scrape?.all(name) ?? []);
  return new Map(samples.map((sample) => [keyOf(sample), sample.value]));
}

/** What a counter is of may be renamed while it goes on: these labels are left out where an id stands beside them. */
const NAMES: Readonly<Record<string, readonly string[]>> = { filer: ['filer_guid', 'serial'], volume: ['volume_guid'] };

function keyOf({ name, labels }: ScrapedSample): string {
  const kept = Object.entries(labels).filter(([label]) => !NAMES[label]?.some((id) => id in labels));
  return `${name} ${JSON.stringify(kept)}`;
}

/** The limit holds in each window, and an hour takes hardly more requests than health. */
function* tooManyRequests(check: Check): Generator<Violation> {
  const { portal, evidence, sent, appliancesEver } = check;
  if (portal === undefined) return;
  const { requests, windowMs } = portal.rateLimit;
  for (const [index, { at }] of sent.entries()) {
    const oldest = sent[index - requests];
    if (oldest !== undefined && at - oldest.at < windowMs - 1)
      yield ['requests', `more than ${requests} requests within ${windowMs / SECOND} s`];
  }
  const ofTelemetry = sent.filter(({ path }) => path.startsWith('/telemetry/appliances/')).length;
  const cycles = HOUR / portal.intervalMs + (evidence.sinceStart < HOUR ? 2 : 1);
  const most = (1 + REPETITIONS.share) * appliancesEver * portal.series.length * cycles + REPETITIONS.atOnce;
  if (ofTelemetry > most) yield ['requests', `${ofTelemetry} requests of telemetry in an hour, ${most} at most`];
}

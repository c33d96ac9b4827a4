import type { Scrape } from '../support/scrape.ts';
import { type Evidence, SURPLUS_MS } from './evidence.ts';
import { API_UP, APPLIANCE_UP, EFFECTIVE_INTERVAL, SERIES_TIME } from './names.ts';
import { DATA, INVENTORY, LICENCE, LIMITS, type Place, seriesPlace, TOKEN } from './troubles.ts';

/** By so much limits may be tighter for a while than the interval says that they make. */
const TIGHTER = 1.25;

/** How much later than promised anything may be asked. */
const LATER = 1.6;

/** Requests of a round that are not for series. */
const ACCOUNT_A_ROUND = 20;

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** What nothing is wrong with and is not asked as promised, or not shown, whatever else is wrong. `forgives`: what is gone for good. */
export function* neglectedIn(
  scrape: Scrape,
  evidence: Evidence,
  forgives: (labels: Readonly<Record<string, string>>) => boolean,
): Generator<string> {
  const { told, troubles, joined, longestMs, now } = evidence;
  const { series, discoveryMs, intervalMs, dataMs, portal, gfa } = told;
  if (gfa && troubles.isQuiet(DATA, 3 * dataMs, now)) {
    if (scrape.value('filer_gfa_request_timestamp_seconds') === undefined)
      yield 'unwell: nothing of /data is shown, and nothing is wrong';
    yield* unasked(DATA, LATER * dataMs, evidence);
    if (scrape.value(API_UP, { api: 'gfa' }) !== 1) yield 'unwell: gfa is down, and nothing is wrong';
  }
  if (!portal) return;
  yield* slow(scrape, evidence);
  if (troubles.isQuiet(INVENTORY, 2 * discoveryMs, now)) yield* unasked(INVENTORY, LATER * discoveryMs, evidence);
  if (told.licence) yield* licenceUnread(evidence);
  if (troubles.isQuiet(TOKEN, DAY_MS, now)) yield* unasked(TOKEN, DAY_MS, evidence);
  const effectiveMs = longestMs > intervalMs ? TIGHTER * longestMs : intervalMs;
  for (const [serial, since] of joined) {
    // It is known with the next list.
    const isNew = now - since <= 1.5 * discoveryMs + 2 * effectiveMs && since > 0;
    if (isNew || forgives({ serial })) continue;
    for (const one of series) yield* seriesNeglected(seriesPlace(serial, one), effectiveMs, scrape, evidence);
  }
}

/** The limits bind no more than they must. */
function* slow(scrape: Scrape, { told, deliveries, troubles, maxAppliances, now }: Evidence): Generator<string> {
  if (!troubles.isQuiet(LIMITS, HOUR_MS, now) || deliveries.refused(HOUR_MS) > 0) return;
  const { requests, windowMs, aDay } = told.ceilings;
  const perMs = Math.min(requests / windowMs, aDay / DAY_MS);
  const round = 2 * maxAppliances * told.series.length + ACCOUNT_A_ROUND;
  const allowedMs = 2 * Math.max(told.intervalMs, round / perMs);
  const seconds = scrape.value(EFFECTIVE_INTERVAL, { api: 'portal' }) ?? 0;
  if (1000 * seconds > allowedMs)
    yield `slow: the portal is polled every ${seconds} s, and every ${allowedMs / 1000} s was allowed`;
}

/** The licence is read each hour, and when every series is denied: it may be why. */
function* licenceUnread(evidence: Evidence): Generator<string> {
  const { troubles, sent, deliveries, told, now } = evidence;
  if (!troubles.isQuiet(LICENCE, 2 * told.intervalMs, now)) return;
  if (troubles.isQuiet(LICENCE, 2 * HOUR_MS, now)) yield* unasked(LICENCE, LATER * HOUR_MS, evidence);
  const since = deliveries.deniedSince ?? now;
  if (now - since > 2 * told.intervalMs && !sent.hasLeft(LICENCE.path, since))
    yield `unexplained: every series is denied for ${(now - since) / 1000} s, and the licence was not read`;
}

function* seriesNeglected(place: Place, effectiveMs: number, scrape: Scrape, evidence: Evidence): Generator<string> {
  const { deliveries, troubles, told, now } = evidence;
  const { serial = '', operation: series, path } = place;
  // What the appliance does not have rests.
  if (!deliveries.hasTold(`${serial}/${series}`)) return;
  if (!troubles.isQuiet(place, 2.5 * effectiveMs + SURPLUS_MS, now)) return;
  yield* unasked(place, effectiveMs + 0.5 * told.intervalMs, evidence);
  if (scrape.all(SERIES_TIME, { serial, series }).length === 0)
    yield `unwell: ${series} of ${serial} is not shown, and nothing is wrong`;
  if (scrape.value(APPLIANCE_UP, { serial }) !== 1) yield `unwell: ${serial} is down, and nothing is wrong`;
  if (scrape.value(API_UP, { api: 'portal' }) !== 1)
    yield `unwell: the portal is down, and nothing is wrong with ${path}`;
}

function* unasked({ path, or = path }: Place, withinMs: number, { sent }: Evidence): Generator<string> {
  const age = Math.min(sent.lastLeft(path), sent.lastLeft(or));
  if (age > withinMs + SURPLUS_MS)
    yield `unasked: ${path}, ${age / 1000} s after it was, ${withinMs / 1000} s promised`;
}

import type { Scrape } from '../support/scrape.ts';
import { type Evidence, STALE_AFTER, SURPLUS_MS } from './evidence.ts';
import { API_UP, APPLIANCE_UP, CHECK_INS, ROUND, SERIES_TIME, TELEMETRY_LICENCE } from './names.ts';
import { INVENTORY, LICENCE } from './troubles.ts';

/** What a scrape says that is not so, by what the services have said. `forgives`: what is not to be polled. */
export function* untrueIn(
  scrape: Scrape,
  evidence: Evidence,
  forgives: (labels: Readonly<Record<string, string>>) => boolean,
): Generator<string> {
  yield* staleIn(scrape, evidence);
  yield* upIn(scrape, evidence);
  yield* checkInsIn(scrape, evidence);
  yield* licenceIn(scrape, evidence);
  yield* roundIn(scrape, evidence, forgives);
  for (const [name, most] of Object.entries(evidence.deliveries.counts())) {
    const sum = scrape.sum(name);
    if (sum > most) yield `jumps: ${name} is ${sum}, and ${most} were delivered`;
  }
}

/** What is shown as fresh is fresh. */
function* staleIn(scrape: Scrape, { deliveries, told, longestMs, now }: Evidence): Generator<string> {
  for (const { labels, value } of scrape.all(SERIES_TIME)) {
    const age = now - deliveries.seriesTold(`${labels.serial}/${labels.series}`, value);
    if (age > STALE_AFTER * longestMs + SURPLUS_MS)
      yield `stale: ${labels.series} of ${labels.serial} is shown, ${age / 1000} s old`;
  }
  const requested = scrape.value('filer_gfa_request_timestamp_seconds');
  const age = requested === undefined ? 0 : now - deliveries.dataTold(requested);
  if (age > STALE_AFTER * told.dataMs + SURPLUS_MS) yield `stale: /data is shown, ${age / 1000} s old`;
}

/** Up is what has answered, or had records, in so many intervals and one more. */
function* upIn(scrape: Scrape, evidence: Evidence): Generator<string> {
  const { deliveries, told, longestMs, now } = evidence;
  const wokeAt = evidence.wokeAt();
  const expect = function* (what: string, at: number, intervalMs: number) {
    const age = now - Math.max(at, wokeAt);
    if (age > (STALE_AFTER + 1) * intervalMs + SURPLUS_MS)
      yield `up: ${what} is up, and has sent nothing for ${age / 1000} s`;
  };
  for (const { labels } of scrape.all(API_UP).filter(({ value }) => value === 1)) {
    if (labels.api === 'gfa') yield* expect('gfa', deliveries.dataAt, told.dataMs);
    else if (told.series.length > 0) yield* expect('the portal', deliveries.answeredAt, longestMs);
  }
  for (const { labels } of scrape.all(APPLIANCE_UP).filter(({ value }) => value === 1))
    yield* expect(labels.serial ?? '', deliveries.lastReported(labels.serial ?? ''), longestMs);
}

/** What is shown of a filer is what the newest answer that names it says. */
function* checkInsIn(scrape: Scrape, { deliveries }: Evidence): Generator<string> {
  for (const { name, labels, value } of CHECK_INS.flatMap((one) => scrape.all(one))) {
    const said = deliveries.checkIns(String(labels.filer_guid), labels.volume_guid ?? '');
    if (!said.some((one) => Math.abs(one - value) < 0.001))
      yield `wrong: ${name} of ${labels.filer_guid} is ${value}, and ${said.join(' or ')} was answered`;
  }
}

/** What is shown of the licence is what the newest answer says. */
function* licenceIn(scrape: Scrape, { deliveries, troubles, told, now }: Evidence): Generator<string> {
  const { licence } = deliveries;
  if (licence === undefined || now - licence.at < 2 * told.intervalMs) return;
  if (!troubles.isQuiet(LICENCE, 2 * told.intervalMs, now)) return;
  const shown = scrape.value(...TELEMETRY_LICENCE);
  if (shown !== undefined && shown !== (licence.hasTelemetry ? 1 : 0))
    yield `wrong: the licence is shown as ${shown}, and ${licence.hasTelemetry} was answered`;
}

/** A round has ended when every appliance was asked. */
function* roundIn(
  scrape: Scrape,
  { joined, sent, startedAt, troubles, told, now }: Evidence,
  forgives: (labels: Readonly<Record<string, string>>) => boolean,
): Generator<string> {
  if (told.series.length === 0 || scrape.value(ROUND, { api: 'portal' }) === undefined) return;
  if (!troubles.isQuiet(INVENTORY, now - startedAt - 1, now)) return;
  for (const [serial, since] of joined) {
    const isAsked = told.series.some((series) =>
      sent.hasLeft(`/portal/telemetry/appliances/${serial}/${series}`, startedAt),
    );
    if (since <= startedAt && !isAsked && !forgives({ serial }))
      yield `round: one has ended, and ${serial} was never asked`;
  }
}

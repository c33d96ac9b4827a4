import type { Evidence } from './evidence.ts';
import { LIMITS } from './troubles.ts';

const HOUR_MS = 3_600_000;

/** Requests of an hour beside those of health: one in ten tried again, and some at once after long health. */
const TRIED_AGAIN = { share: 0.15, atOnce: 30 } as const;

/** Requests of an hour that are about the account, tokens among them, beside the lists of the inventory. */
const ACCOUNT_AN_HOUR = 90;

/** What may be rejected by limits that are what they were for a while: they are looked for again and again. */
const REFUSED = { afterMs: HOUR_MS / 2, withinMs: HOUR_MS / 3, share: 0.4, atOnce: 10 } as const;

/** More requests than the limits allow or than health takes in an hour, and more than a few of them rejected. */
export function* excessIn({
  told,
  sent,
  deliveries,
  starts,
  maxAppliances,
  troubles,
  requests,
  now,
}: Evidence): Generator<string> {
  for (const violation of new Set(requests.violations)) yield `exceeds: ${violation}`;
  const { series, intervalMs, discoveryMs, dataMs, portal, gfa } = told;
  const begun = starts.filter((at) => now - at < HOUR_MS).length;
  const expect = function* (what: string, path: RegExp, health: number) {
    const most = (1 + TRIED_AGAIN.share) * health + TRIED_AGAIN.atOnce;
    const count = sent.count(path, HOUR_MS);
    if (count > most) yield `costs: ${count} requests of ${what} in an hour, ${most} at most`;
  };
  if (portal) {
    const round = maxAppliances * series.length;
    yield* expect('telemetry', /^\/portal\/telemetry\/appliances/, round * (HOUR_MS / intervalMs + begun));
    const rounds = HOUR_MS / discoveryMs + begun;
    yield* expect('the account', /^\/portal\/(?!telemetry)/, ACCOUNT_AN_HOUR + 3 * rounds);
  }
  if (gfa) yield* expect('/data', /^\/gfa/, HOUR_MS / dataMs + begun);
  if (!troubles.isQuiet(LIMITS, REFUSED.afterMs, now)) return;
  const refused = deliveries.refused(REFUSED.withinMs);
  const asked = sent.count(/^\/portal/, REFUSED.withinMs);
  if (refused > REFUSED.share * asked + REFUSED.atOnce)
    yield `refused: ${refused} of ${asked} requests, by limits that are known`;
}

import pLimit from 'p-limit';
import type { Dispatcher } from 'undici';
import type { StandIn } from '../../src/demo/stand-in.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { RequestError } from '../../src/runtime/errors.ts';
import { Secret } from '../../src/runtime/secret.ts';
import { portalRequests } from '../../src/sources/portal/requests.ts';
import { TokenSource } from '../../src/sources/portal/token.ts';
import { JsonClient } from '../../src/transport/client.ts';
import { MeasuredRate } from '../../src/transport/rate/adaptive-rate.ts';
import { Budget } from '../../src/transport/rate/budget.ts';
import { Pace } from '../../src/transport/rate/pace.ts';
import { Pacer } from '../../src/transport/rate/pacer.ts';

const CONCURRENCY = 8;

/** How hard to ask. */
export interface Drive {
  readonly standIn: StandIn;
  readonly clock: Clock;
  /** Requests per second that the client was told. */
  readonly toldPerSecond: number;
  /** Measured so long; the stand-in's windows begin at whole multiples of 30 s, and whole ones are measured. */
  readonly seconds: number;
  readonly dispatcher: Dispatcher;
}

/** What the service saw of it, after the first half minute. */
export interface Driven {
  readonly perSecond: number;
  /** Refused among all that were sent from the start. */
  readonly refusedShare: number;
  readonly refused: number;
}

/** Unlimited demand: a client with the program's own pace asks a stand-in as fast as it may. */
export async function drive(settings: Drive): Promise<Driven> {
  const { standIn, clock, dispatcher, toldPerSecond, seconds } = settings;
  const start = clock.monotonic();
  const limit = { requests: Math.round(toldPerSecond * 30), windowMs: 30_000 };
  const pacer = new Pacer(
    new Pace(limit, new MeasuredRate(toldPerSecond / 1000, start), start),
    new Budget(undefined, start),
    clock,
  );
  const client = new JsonClient({
    secrets: () => [],
    baseUrl: standIn.portalUrl,
    userAgent: 'drive',
    dispatcher,
    clock,
    pacer,
    limit: pLimit(CONCURRENCY),
    observer: { started: () => {}, ended: () => {}, throttled: () => {} },
    timeoutMs: 30_000,
    allowed: portalRequests,
    limitsOf: () => ({ bytes: 1_000_000, isByMemory: false, weight: Number.POSITIVE_INFINITY }),
  });
  const stop = new AbortController();
  const tokens = new TokenSource(client, { kind: 'user_key', key: Secret.of(standIn.credentials.userKey) }, clock);
  const access = await tokens.get(stop.signal);
  const serial = standIn.fleet.appliances[0]?.serial ?? '';
  const request = {
    method: 'POST',
    path: `/telemetry/appliances/${serial}/smb_connections`,
    operation: 'smb_connections',
    headers: { authorization: `Bearer ${access}` },
    json: { period: 'PT6M', bin_size: 60 },
  } as const;
  const from = measuredFrom(clock.now());
  const seen = { taken: 0, refused: 0, sent: 0 };
  const ask = async () => {
    while (!stop.signal.aborted) {
      try {
        await client.send(request, stop.signal);
        seen.sent += 1;
        if (clock.now() >= from) seen.taken += 1;
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        if (error.fault === 'aborted') break;
        seen.sent += 1;
        if (error.status === 429) seen.refused += 1;
      }
    }
  };
  const workers = Promise.all(Array.from({ length: CONCURRENCY }, ask));
  await clock.sleep(from + seconds * 1000 - clock.now());
  const measured = (clock.now() - from) / 1000;
  stop.abort();
  await workers;
  await dispatcher.destroy();
  return { perSecond: seen.taken / measured, refusedShare: seen.refused / seen.sent, refused: seen.refused };
}

/** The first whole half minute after the half minute in which a limit may be learnt, in epoch milliseconds. */
function measuredFrom(begun: number): number {
  return Math.ceil((begun + 30_000) / 30_000) * 30_000;
}

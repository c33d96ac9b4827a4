import pLimit from 'p-limit';
import type { Config } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import { secretTexts } from '../config/secret-texts.ts';
import type { Target, UpstreamParts } from '../sources/upstream.ts';
import type { ConfiguredUpstream } from '../sources/upstreams.ts';
import { answerLimits } from '../transport/answer-limits.ts';
import { JsonClient, type RequestObserver } from '../transport/client.ts';
import { createDispatcher } from '../transport/dispatcher.ts';
import { MeasuredRate } from '../transport/rate/adaptive-rate.ts';
import { Budget } from '../transport/rate/budget.ts';
import { Pace } from '../transport/rate/pace.ts';
import { Pacer } from '../transport/rate/pacer.ts';
import type { Environment } from './environment.ts';
import { notesOf } from './notes.ts';

interface ClientParts {
  readonly config: Config;
  readonly environment: Environment;
  readonly observer: RequestObserver;
  /** Limits in place of those of the service. */
  readonly limits?: (target: Target) => Partial<Target>;
}

/** The client of one service with its own pace: a problem of one service never affects another. */
export function politeClient({ upstream, settings }: ConfiguredUpstream, parts: ClientParts) {
  const { config, environment, observer, limits } = parts;
  const { clock, version, heapBytes = Number.POSITIVE_INFINITY, connect = createDispatcher } = environment;
  const { timeoutMs, maxResponseBytes, proxy: proxies } = config.requests;
  const usual = upstream.target(settings, config);
  const target = { ...usual, ...limits?.(usual) };
  const { baseUrl, limit, dailyLimit, mostPerMs, concurrency } = target;
  const proxy = proxyFor(baseUrl, proxies);
  const dispatcher = connect(proxy && { ...proxy, timeoutMs });
  const now = clock.monotonic();
  const budget = new Budget(dailyLimit, now);
  const pacer = new Pacer(new Pace(limit, new MeasuredRate(mostPerMs, now), now), budget, clock);
  let trouble = false;
  const client = new JsonClient({
    baseUrl,
    userAgent: `filer-exporter/${version}`,
    dispatcher,
    clock,
    pacer,
    limit: pLimit(concurrency),
    secrets: () => secretTexts(config),
    observer: {
      ...observer,
      ended: (operation, code, seconds) => {
        trouble ||= code !== '200';
        observer.ended?.(operation, code, seconds);
      },
    },
    timeoutMs,
    allowed: upstream.allowed ?? [],
    limitsOf: (size) => answerLimits({ heapBytes, maxBytes: maxResponseBytes, concurrency }, size),
  });
  return {
    ...{ client, target, pacer, budget },
    /** Whether any request was rejected or has failed. */
    hasHadTrouble: () => trouble,
    close: () => dispatcher.destroy(),
  };
}

/** A service, connected through a client of its own; `release` closes that too. */
export function connectUpstream(
  asked: ConfiguredUpstream,
  parts: ClientParts & Pick<UpstreamParts, 'names' | 'keeper' | 'wantedSince'>,
) {
  const { config, environment, names, keeper, wantedSince } = parts;
  const { clock, random, log, heapBytes = Number.POSITIVE_INFINITY } = environment;
  const { client, close, ...limits } = politeClient(asked, parts);
  const connection = asked.upstream.connect(asked.settings, {
    ...{ client, config, clock, random, log, heapBytes, names, keeper, wantedSince },
  });
  return {
    ...connection,
    ...limits,
    /** The time by the service's clock, in epoch milliseconds. */
    now: () => client.now(),
    clockSkewMs: () => client.serviceClock.skewMs,
    notes: () => notesOf(client.serviceClock, limits.pacer, connection.notes?.()),
    release: async (signal: AbortSignal) => {
      await connection.release?.(signal);
      await close();
    },
  };
}

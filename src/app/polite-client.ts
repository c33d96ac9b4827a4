import pLimit from 'p-limit';
import type { Config } from '../config/config.ts';
import { proxyFor } from '../config/no-proxy.ts';
import type { Api } from '../metrics/snapshot.ts';
import type { Target } from '../sources/upstream.ts';
import type { AllowedRequests } from '../transport/allowed.ts';
import { answerLimits } from '../transport/answer-limits.ts';
import { JsonClient, type RequestObserver } from '../transport/client.ts';
import { createDispatcher } from '../transport/dispatcher.ts';
import { MeasuredRate } from '../transport/rate/adaptive-rate.ts';
import { Budget } from '../transport/rate/budget.ts';
import { Pace } from '../transport/rate/pace.ts';
import { Pacer } from '../transport/rate/pacer.ts';
import type { Environment } from './environment.ts';

/** The client of one service with its own pace: a problem of one service never affects another. */
export function politeClient(
  target: Target & { readonly api: Api; readonly allowed: readonly AllowedRequests[] },
  config: Config,
  own: { readonly requestsOf: (api: Api) => RequestObserver },
  { clock, version, heapBytes = Number.POSITIVE_INFINITY, connect = createDispatcher }: Environment,
) {
  const { api, baseUrl, limit, dailyLimit, mostPerMs, allowed, concurrency } = target;
  const { timeoutMs, maxResponseBytes, proxy: proxies } = config.requests;
  const proxy = proxyFor(baseUrl, proxies);
  const dispatcher = connect(concurrency, proxy && { ...proxy, timeoutMs });
  const now = clock.monotonic();
  const budget = new Budget(dailyLimit, now);
  const pacer = new Pacer(new Pace(limit, new MeasuredRate(mostPerMs, now), now), budget, clock);
  const counts = own.requestsOf(api);
  let trouble = false;
  const client = new JsonClient({
    baseUrl,
    userAgent: `filer-exporter/${version}`,
    dispatcher,
    clock,
    pacer,
    limit: pLimit(concurrency),
    observer: {
      ...counts,
      ended: (operation, code, seconds) => {
        trouble ||= code !== '200';
        counts.ended?.(operation, code, seconds);
      },
    },
    timeoutMs,
    allowed,
    limitsOf: (size) => answerLimits({ heapBytes, maxBytes: maxResponseBytes, concurrency }, size),
  });
  return {
    ...{ client, pacer, budget },
    /** Whether any request was rejected or has failed. */
    hasHadTrouble: () => trouble,
    close: () => dispatcher.destroy(),
  };
}

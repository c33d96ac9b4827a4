// Only here: a plan that promises other requests than the collectors send.
import pLimit from 'p-limit';
import { expect, onTestFinished, test } from 'vitest';
import type { Task } from '../../src/contract/task.ts';
import { type MockServices, startMockServices } from '../../src/demo/mock-services.ts';
import { type Clock, systemClock } from '../../src/runtime/clock.ts';
import { Secret } from '../../src/runtime/secret.ts';
import { portalRequests } from '../../src/services/portal/allowed-requests.ts';
import { STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { PortalClient } from '../../src/services/portal/client.ts';
import { PortalCollector } from '../../src/services/portal/collector.ts';
import { TokenSource } from '../../src/services/portal/token.ts';
import { createDispatcher } from '../../src/transport/dispatcher.ts';
import { JsonClient } from '../../src/transport/json-client.ts';
import { AdaptiveRate } from '../../src/transport/rate/adaptive-rate.ts';
import { DailyQuota } from '../../src/transport/rate/daily-quota.ts';
import { RateLimiter } from '../../src/transport/rate/rate-limiter.ts';
import { RequestQueue } from '../../src/transport/rate/request-queue.ts';
import { going, noLog } from '../support/mock-api.ts';
import { APPLIANCES, type Round, rounds, VOLUMES } from './rounds.ts';

/** Always the same moment: what happens in the made-up fleet depends on it, and so does how many pages there are. */
const clock: Clock = { ...systemClock, now: () => Date.UTC(2026, 2, 2, 10) };

test('each collector takes as many requests a round as the plan says and docs/limits.md tells', async () => {
  const standIn = await startMockServices({
    clock,
    appliances: APPLIANCES,
    volumes: VOLUMES,
    variations: { rateLimit: null, dailyLimit: null },
  });
  onTestFinished(() => standIn.close());
  for (const round of rounds()) {
    const series = round.name === 'telemetry' ? STANDARD_SERIES : [];
    expect({ ...round, requests: await measured(standIn, round, series) }).toEqual(round);
  }
}, 120_000);

/** What one collector asks of a portal with a hundred appliances in one round, the inventory and tokens left out. */
async function measured(
  standIn: MockServices,
  { name, intervalMs }: Pick<Round, 'name' | 'intervalMs'>,
  series: readonly string[],
): Promise<number> {
  const dispatcher = createDispatcher(undefined);
  onTestFinished(() => dispatcher.destroy());
  const limit = { requests: 1_000_000, windowMs: 1_000 };
  const now = clock.monotonic();
  const client = new JsonClient({
    secrets: () => [],
    baseUrl: standIn.portalUrl,
    userAgent: 'measuring',
    dispatcher,
    clock,
    requestQueue: new RequestQueue(
      new RateLimiter(limit, new AdaptiveRate(100, now), now),
      new DailyQuota(undefined, now),
      clock,
    ),
    limit: pLimit(8),
    observer: { onStart: () => {}, onEnd: () => {}, onThrottle: () => {} },
    timeoutMs: 30_000,
    allowed: portalRequests,
    limitsOf: () => ({ bytes: 32_000_000, isByMemory: false, parsedBytes: Number.POSITIVE_INFINITY }),
  });
  const tokens = new TokenSource(client, { kind: 'user_key', key: Secret.of(standIn.credentials.userKey) }, clock);
  const collector = new PortalCollector(
    new PortalClient(client, tokens, { clock, random: () => 0 }),
    {
      series: series.map((one) => ({ name: one, intervalMs })),
      collectors: [{ name, intervalMs }],
      discoveryIntervalMs: 900_000,
      serials: undefined,
      shard: { index: 0, total: 1 },
      staleAfter: 3,
      forgetAfterMs: 86_400_000,
      lookbackMs: 900_000,
      binSeconds: 60,
      bounds: [],
    },
    { clock, log: noLog },
  );
  const polled = new Set<string>();
  const left = (): readonly Task[] => [...collector.tasks()].filter(({ id }) => !polled.has(id));
  const [inventory] = collector.tasks();
  await inventory?.poll(going);
  polled.add(inventory?.id ?? '');
  const before = standIn.requests.length;
  for (let tasks = left(); tasks.length > 0; tasks = left()) {
    for (const { id } of tasks) polled.add(id);
    await Promise.all(tasks.map((task) => task.poll(going)));
  }
  return standIn.requests.length - before;
}

import pLimit from 'p-limit';
import type { Bin, Window } from '../../src/contract/minutes.ts';
import type { PollResult } from '../../src/contract/poll-result.ts';
import type { Collector, Task } from '../../src/contract/task.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { RequestError } from '../../src/runtime/errors.ts';
import { applianceStateFamilies } from '../../src/services/portal/appliances/series-families.ts';
import { portal } from '../../src/services/portal/service.ts';
import type { Service, ServiceEndpoint } from '../../src/services/service.ts';
import { AdaptiveRate } from '../../src/transport/rate/adaptive-rate.ts';
import { DailyQuota } from '../../src/transport/rate/daily-quota.ts';
import { RateLimiter } from '../../src/transport/rate/rate-limiter.ts';
import { RequestQueue } from '../../src/transport/rate/request-queue.ts';
import { ServiceClock } from '../../src/transport/service-clock.ts';

const MINUTE = 60_000;

/** An appliance reports its minutes so often, in milliseconds. */
const REPORT_MS = 5 * MINUTE;

/** What the services have of one appliance. Minutes count from the start, and the appliance reported before it too. */
interface MadeUpAppliance {
  readonly index: number;
  readonly serial: string;
  readonly name: string;
  /** When it reports within five minutes, in milliseconds. */
  readonly phaseMs: number;
  /** Since when it is off or not in the inventory, by minute. */
  offSince: number | undefined;
  readonly off: (readonly [from: number, to: number])[];
  isListed: boolean;
}

/** How an appliance reports. */
export interface Telemetry {
  /** So many points of each minute; one by default. */
  readonly samples?: number;
  /** In which minute the service has one of an appliance; with the appliance's next report by default. Minutes count from the start. */
  readonly arrives?: (appliance: number, minute: number, reported: number) => number;
}

/**
 * A fleet whose poll results are made up: no request, no JSON, no token. So a day of 2,000 appliances takes seconds. The
 * limits of requests, the clock of the service and everything between the poller and both outputs are the program's own.
 */
export class MadeUpFleet {
  readonly appliances: readonly MadeUpAppliance[];
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #seriesName: string;
  readonly #intervalMs: number;
  readonly #arrives: NonNullable<Telemetry['arrives']>;
  /** Of each minute. */
  readonly samples: number;
  /** The portal answers this status; undefined while it is well. */
  status: number | undefined;
  /** Of the requests one in so many gets it. */
  statusEach = 1;
  latencyMs = 300;
  /** By so many milliseconds the `Date` of the next answer is wrong. */
  oddDateMs = 0;
  polls = 0;

  constructor(
    clock: Clock,
    appliances: number,
    seriesName: string,
    intervalMs: number,
    { samples = 1, arrives = (_, __, reported) => reported }: Telemetry = {},
  ) {
    this.samples = samples;
    this.#arrives = arrives;
    this.#clock = clock;
    this.#startMs = Math.floor(clock.now() / MINUTE) * MINUTE;
    this.#seriesName = seriesName;
    this.#intervalMs = intervalMs;
    this.appliances = Array.from({ length: appliances }, (_, index) => ({
      index,
      serial: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      name: `edge-${index}`,
      phaseMs: (index * 7_919) % REPORT_MS,
      offSince: undefined,
      off: [],
      isListed: true,
    }));
  }

  /** The current minute, counted from the start. */
  get minute(): number {
    return Math.floor((this.#clock.now() - this.#startMs) / MINUTE);
  }

  /** These appliances are off until what it returns is called. */
  off(appliances: readonly MadeUpAppliance[]): () => void {
    const since = this.minute;
    for (const appliance of appliances) appliance.offSince = since;
    return () => {
      for (const appliance of appliances) {
        appliance.off.push([since, this.minute]);
        appliance.offSince = undefined;
      }
    };
  }

  /** These leave the inventory until what it returns is called; they report all the same. */
  unlisted(appliances: readonly MadeUpAppliance[]): () => void {
    for (const appliance of appliances) appliance.isListed = false;
    return () => {
      for (const appliance of appliances) appliance.isListed = true;
    };
  }

  /** Whether the service ever has this minute of an appliance. */
  has({ off, offSince }: MadeUpAppliance, minute: number): boolean {
    if (offSince !== undefined && minute >= offSince) return false;
    return off.every(([from, to]) => minute < from || minute >= to);
  }

  /** The service, for `createApp`. `shard` and `shards` as in the configuration. */
  service(shard = 0, shards = 1): Service<unknown> {
    return {
      ...(portal as Service<unknown>),
      connect: (settings, { config }) => ({
        collector: this.#collector(
          new Client(this, this.#clock, (portal as Service<unknown>).target(settings, config)),
          (index) => index % shards === shard,
        ),
        intervalMs: this.#intervalMs,
        inventory: {
          families: applianceStateFamilies,
          count: () => Promise.resolve(this.appliances.length),
          gaps: () => [],
          describe: () => undefined,
        },
      }),
    };
  }

  #collector(client: Client, isOurs: (index: number) => boolean): Collector {
    let listed: readonly MadeUpAppliance[] = [];
    const list = () => this.appliances.filter(({ isListed }, index) => isListed && isOurs(index));
    const inventory: Task = {
      id: 'portal/inventory',
      api: 'portal',
      operation: 'serials',
      intervalMs: 15 * MINUTE,
      priority: true,
      retriesBeforeSlot: true,
      discoversTasks: true,
      poll: async (signal) => {
        await client.request(signal);
        listed = list();
        return { samples: [], drops: new Map(), empty: false };
      },
    };
    return { api: 'portal', tasks: () => [inventory, ...listed.map((appliance) => this.#task(appliance, client))] };
  }

  #task(appliance: MadeUpAppliance, client: Client): Task {
    const { serial, name } = appliance;
    return {
      id: `portal/${serial}/${this.#seriesName}`,
      api: 'portal',
      operation: this.#seriesName,
      appliance: { serial, name },
      intervalMs: this.#intervalMs,
      suspendedIntervalMs: 15 * MINUTE,
      now: () => client.now(),
      poll: async (signal, window) => {
        const requestedAt = client.now();
        await client.request(signal);
        return this.#result(appliance, requestedAt, window);
      },
    };
  }

  #result(appliance: MadeUpAppliance, requestedAt: number, window: Window | undefined): PollResult {
    const { serial, name: filer } = appliance;
    const labels = { serial, filer };
    const newest = this.#newest(appliance, this.minute, this.minute - 15);
    const at = (minute: number) => this.#startMs + minute * MINUTE;
    const sample = (minute: number) => ({
      name: 'filer_appliance_cpu_utilization_ratio',
      labels,
      value: (minute % 100) / 100,
    });
    const each = (minute: number) =>
      Array.from({ length: this.samples }, (_, disk) =>
        disk === 0 ? sample(minute) : { ...sample(minute), labels: { ...labels, disk: String(disk) } },
      );
    const samples =
      newest === undefined
        ? []
        : [
            sample(newest),
            {
              name: 'filer_appliance_series_timestamp_seconds',
              labels: { ...labels, series: this.#seriesName },
              value: at(newest) / 1000,
            },
          ];
    const result = { samples, drops: new Map(), empty: newest === undefined };
    if (window === undefined) return result;
    const bins: Bin[] = [];
    const now = this.minute;
    const first = Math.min(Math.ceil((window.start - this.#startMs) / MINUTE), now - 15);
    for (let minute = first; minute < now && at(minute) < window.to; minute += 1) {
      if (this.#shows(appliance, minute)) bins.push({ at: at(minute), samples: () => each(minute) });
    }
    return { ...result, minutes: { requestedAt, to: window.to, [Symbol.iterator]: () => bins.values() } };
  }

  /** Whether the service has this minute of an appliance now. */
  #shows(appliance: MadeUpAppliance, minute: number): boolean {
    if (!this.has(appliance, minute)) return false;
    const { index, phaseMs } = appliance;
    const ended = (minute + 1) * MINUTE;
    const reported = phaseMs + Math.ceil((ended - phaseMs) / REPORT_MS) * REPORT_MS;
    return this.#arrives(index, minute, reported / MINUTE) * MINUTE <= this.#clock.now() - this.#startMs;
  }

  #newest(appliance: MadeUpAppliance, before: number, earliest: number): number | undefined {
    for (let minute = before - 1; minute >= earliest; minute -= 1) if (this.#shows(appliance, minute)) return minute;
    return undefined;
  }
}

/** What one exporter asks the fleet through: at the program's own rate, with the service's clock as it measures it. */
class Client {
  readonly #fleet: MadeUpFleet;
  readonly #clock: Clock;
  readonly #serviceClock: ServiceClock;
  readonly #queue: RequestQueue;
  readonly #inFlight: ReturnType<typeof pLimit>;

  constructor(fleet: MadeUpFleet, clock: Clock, { limit, maxPerMs, dailyLimit, concurrency }: ServiceEndpoint) {
    const now = clock.monotonic();
    this.#fleet = fleet;
    this.#clock = clock;
    this.#serviceClock = new ServiceClock(clock);
    const rate = new RateLimiter(limit, new AdaptiveRate(maxPerMs, now), now);
    this.#queue = new RequestQueue(rate, new DailyQuota(dailyLimit, now), clock);
    this.#inFlight = pLimit(concurrency);
  }

  now(): number {
    return this.#serviceClock.now();
  }

  async request(signal: AbortSignal): Promise<void> {
    const request = await this.#queue.acquire(signal);
    if (request === undefined) throw new RequestError('aborted', 'the exporter is stopping');
    const status = await this.#inFlight(() => this.#answer(signal));
    this.#queue.recordEnd(
      request,
      status === 429 ? { state: 'throttled', retryAfterMs: undefined } : { state: 'accepted' },
    );
    if (signal.aborted) throw new RequestError('aborted', 'the exporter is stopping');
    if (status !== undefined) throw new RequestError('status', `GET returned ${status}`, { status });
  }

  async #answer(signal: AbortSignal): Promise<number | undefined> {
    const fleet = this.#fleet;
    await this.#clock.sleep(fleet.latencyMs, signal);
    fleet.polls += 1;
    this.#serviceClock.addSample(this.#clock.now() + fleet.oddDateMs);
    fleet.oddDateMs = 0;
    return fleet.polls % fleet.statusEach === 0 ? fleet.status : undefined;
  }
}

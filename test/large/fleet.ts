import type { Bin, Window } from '../../src/contract/minutes.ts';
import type { PollResult } from '../../src/contract/poll-result.ts';
import type { Collector, Task } from '../../src/contract/task.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { RequestError } from '../../src/runtime/errors.ts';
import { applianceStateFamilies } from '../../src/services/portal/appliances/series-families.ts';
import { portal } from '../../src/services/portal/service.ts';
import type { Service } from '../../src/services/service.ts';

const MINUTE = 60_000;

/** An appliance reports its minutes so often, in milliseconds. */
const REPORT_MS = 5 * MINUTE;

/** What the services have of one appliance. Minutes count from the start. */
interface MadeUpAppliance {
  readonly serial: string;
  readonly name: string;
  /** When it reports within five minutes, in milliseconds. */
  readonly phaseMs: number;
  /** Since when it is off or not in the inventory, by minute. */
  offSince: number | undefined;
  readonly off: (readonly [from: number, to: number])[];
  isListed: boolean;
}

/**
 * A fleet whose poll results are made up: no request, no JSON, no token. So a day of 2,000 appliances takes seconds, and
 * everything between the poller and both outputs is the program's own.
 */
export class MadeUpFleet {
  readonly appliances: readonly MadeUpAppliance[];
  readonly #clock: Clock;
  readonly #startMs: number;
  readonly #seriesName: string;
  readonly #intervalMs: number;
  /** The portal answers this status to everything; undefined while it is well. */
  status: number | undefined;
  latencyMs = 300;
  polls = 0;

  constructor(clock: Clock, appliances: number, seriesName: string, intervalMs: number) {
    this.#clock = clock;
    this.#startMs = Math.floor(clock.now() / MINUTE) * MINUTE;
    this.#seriesName = seriesName;
    this.#intervalMs = intervalMs;
    this.appliances = Array.from({ length: appliances }, (_, index) => ({
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
    if (minute < 0 || (offSince !== undefined && minute >= offSince)) return false;
    return off.every(([from, to]) => minute < from || minute >= to);
  }

  /** The service, for `createApp`. `shard` and `shards` as in the configuration. */
  service(shard = 0, shards = 1): Service<unknown> {
    return {
      ...(portal as Service<unknown>),
      connect: () => ({
        collector: this.#collector((index) => index % shards === shard),
        intervalMs: this.#intervalMs,
        inventory: {
          families: applianceStateFamilies,
          count: () => Promise.resolve(this.appliances.length),
          onTasks: () => {},
          gaps: () => [],
          describe: () => undefined,
        },
      }),
    };
  }

  #collector(isOurs: (index: number) => boolean): Collector {
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
        await this.#answer(signal);
        listed = list();
        return { samples: [], drops: new Map(), empty: false };
      },
    };
    return { api: 'portal', tasks: () => [inventory, ...listed.map((appliance) => this.#task(appliance))] };
  }

  #task(appliance: MadeUpAppliance): Task {
    const { serial, name } = appliance;
    return {
      id: `portal/${serial}/${this.#seriesName}`,
      api: 'portal',
      operation: this.#seriesName,
      appliance: { serial, name },
      intervalMs: this.#intervalMs,
      suspendedIntervalMs: 15 * MINUTE,
      now: () => this.#clock.now(),
      poll: (signal, window) => this.#poll(appliance, signal, window),
    };
  }

  async #answer(signal: AbortSignal): Promise<void> {
    await this.#clock.sleep(this.latencyMs, signal);
    this.polls += 1;
    if (signal.aborted) throw new RequestError('aborted', 'the exporter is stopping');
    const { status } = this;
    if (status !== undefined) throw new RequestError('status', `GET returned ${status}`, { status });
  }

  async #poll(appliance: MadeUpAppliance, signal: AbortSignal, window: Window | undefined): Promise<PollResult> {
    await this.#answer(signal);
    const now = this.#clock.now();
    const { serial, name: filer } = appliance;
    const labels = { serial, filer };
    const reported = this.#reportedUntil(appliance, now);
    const newest = this.#newest(appliance, reported, this.minute - 15);
    const at = (minute: number) => this.#startMs + minute * MINUTE;
    const sample = (minute: number) => ({
      name: 'filer_appliance_cpu_utilization_ratio',
      labels,
      value: (minute % 100) / 100,
    });
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
    const first = Math.max(0, Math.ceil((window.start - this.#startMs) / MINUTE));
    for (let minute = first; minute < reported && at(minute) < window.to; minute += 1) {
      if (this.has(appliance, minute)) bins.push({ at: at(minute), samples: () => [sample(minute)] });
    }
    return { ...result, minutes: { requestedAt: now, to: window.to, [Symbol.iterator]: () => bins.values() } };
  }

  /** The first minute that the appliance has not reported yet. */
  #reportedUntil({ phaseMs }: MadeUpAppliance, now: number): number {
    const last = Math.floor((now - this.#startMs - phaseMs) / REPORT_MS) * REPORT_MS + phaseMs;
    return Math.floor(last / MINUTE);
  }

  #newest(appliance: MadeUpAppliance, before: number, earliest: number): number | undefined {
    for (let minute = before - 1; minute >= earliest; minute -= 1) if (this.has(appliance, minute)) return minute;
    return undefined;
  }
}

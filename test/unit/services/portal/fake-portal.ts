import type { PollResult } from '../../../../src/contract/poll-result.ts';
import type { Task } from '../../../../src/contract/task.ts';
import type { Sample } from '../../../../src/metrics/samples.ts';
import { RequestError } from '../../../../src/runtime/errors.ts';
import { Secret } from '../../../../src/runtime/secret.ts';
import type { FilerNames } from '../../../../src/services/filer-names.ts';
import { PortalCollector } from '../../../../src/services/portal/collector.ts';
import { collectorDefinitions } from '../../../../src/services/portal/collectors.ts';
import type { PortalOptions } from '../../../../src/services/portal/context.ts';
import type { ServiceRequest } from '../../../../src/transport/json-client.ts';
import { ServiceClock } from '../../../../src/transport/service-clock.ts';
import { keptLog } from '../../../harness/kept-log.ts';
import { ManualClock } from '../../../harness/manual-clock.ts';

export const MINUTE = 60_000;

/** A response: a body, or the status of an error. */
export type Reply = { readonly status: number } | object | null | string;

/** What stands for the client of the portal: it answers each request from a function, and has no limits. */
export class FakePortal {
  readonly clock: ManualClock;
  readonly serviceClock: ServiceClock;
  readonly requests: ServiceRequest[] = [];
  readonly kept = keptLog();
  reply: (request: ServiceRequest) => Reply;

  constructor(reply: (request: ServiceRequest) => Reply, clock = new ManualClock()) {
    this.reply = reply;
    this.clock = clock;
    this.serviceClock = new ServiceClock(clock);
  }

  async send<Result>(request: ServiceRequest<Result>): Promise<Result> {
    this.requests.push(request);
    const body = this.reply(request);
    if (typeof body === 'object' && body !== null && 'status' in body && typeof body.status === 'number') {
      const { status } = body;
      const { purpose = 'read' } = request;
      throw new RequestError('status', `${request.method} ${request.path} returned ${status}`, { status, purpose });
    }
    return request.read === undefined ? (body as Result) : request.read(body);
  }

  /** A collector whose clock and log are those of the test. */
  collector(options: Partial<PortalOptions> = {}, names?: FilerNames): PortalCollector {
    const { log } = this.kept;
    const defaults: PortalOptions = {
      url: 'https://portal.example.com',
      credentials: { kind: 'user_key', key: new Secret('key') },
      intervalMs: 5 * MINUTE,
      concurrency: 8,
      rateLimit: { requests: 500, windowMs: 30_000 },
      dailyLimit: undefined,
      units: [],
      maxAppliances: Number.POSITIVE_INFINITY,
      series: [],
      collectors: [],
      discoveryIntervalMs: 15 * MINUTE,
      serials: undefined,
      lookbackMs: 15 * MINUTE,
      binSeconds: 60,
      eventBucketsSeconds: [60, 600],
      staleAfter: 3,
      forgetAfterMs: 24 * 60 * MINUTE,
    };
    return new PortalCollector(this, { ...defaults, ...options }, { clock: this.clock, log, ...(names && { names }) });
  }
}

export function every5m(...names: readonly string[]) {
  return names.map((name) => ({ name, intervalMs: 5 * MINUTE }));
}

export function collecting(...names: readonly string[]) {
  const definitions = collectorDefinitions.filter(({ name }) => names.includes(name));
  return definitions.map((definition) => ({ ...definition, intervalMs: 5 * MINUTE }));
}

export function taskOf(collector: PortalCollector, operation: string): Task {
  const task = [...collector.tasks()].find((one) => one.operation === operation);
  if (task === undefined) throw new Error(`there is no task of ${operation}`);
  return task;
}

export function poll(task: Task): Promise<PollResult> {
  return task.poll(new AbortController().signal, undefined);
}

/** Polls every task once, also those that an earlier one has brought; returns all samples. */
export async function pollAll(collector: PortalCollector): Promise<readonly Sample[]> {
  const polled = new Set<string>();
  const samples: Sample[] = [];
  for (;;) {
    const next = [...collector.tasks()].find(({ id }) => !polled.has(id));
    if (next === undefined) return samples;
    polled.add(next.id);
    samples.push(...(await poll(next)).samples);
  }
}

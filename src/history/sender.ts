import type { Labels } from '../metrics/family.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { increment } from '../runtime/maps.ts';
import { exponentialDelayMs, type Random } from '../runtime/random.ts';
import type { PostResponse } from '../transport/post.ts';
import { retryAfterMs } from '../transport/rate/retry-after.ts';
import type { QueuedBin } from './cursors.ts';
import { REJECTIONS, type RejectionReason, rejectionOf, replace } from './rejections.ts';
import { type TimeSeries, timeSeriesOf } from './write-request.ts';

export interface ReceiverResponse extends PostResponse {
  /** What of the text may be shown in the log; undefined if a secret may be hidden in it. */
  readonly said: string | undefined;
}

export type Send = (series: readonly TimeSeries[], signal: AbortSignal) => Promise<ReceiverResponse>;

export interface SenderDependencies {
  readonly send: Send;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** The labels that are added to every series. */
  readonly labels: Labels;
}

interface Request {
  readonly bins: readonly QueuedBin[];
  /** Whether the receiver may have stored it, although no response has said so. */
  mayBeStored: boolean;
}

/** The most points of a request. Writing and compressing them takes a few milliseconds. */
const MAX_POINTS = 2_000;

/**
 * The longest time of one request. A Prometheus rejects a whole request for one point, and in a small fleet the points of
 * hours would fit into one.
 */
const MAX_REQUEST_MS = 600_000;

const RETRY = { firstMs: 2_000, maxMs: 60_000 } as const;

/** After so many rejections in a row the receiver seems to reject everything: rejected tasks are no longer searched for. */
const MAX_SEARCH = 100;

/** Sends the bins of the queue to the receiver, one request after the other, until each is accepted, or dropped and counted. */
export class Sender {
  readonly #dependencies: SenderDependencies;
  readonly #queue: QueuedBin[] = [];
  /** What is sent before the queue: the request in flight, and what replaces a rejected one. */
  readonly #requests: Request[] = [];
  readonly #logged = new Set<RejectionReason>();
  #maxPoints = MAX_POINTS;
  /** Requests in a row after which the receiver neither accepted nor rejected the points. */
  #failures = 0;
  /** Rejected requests in a row. */
  #rejections = 0;
  readonly responses = new Map<string, number>();
  readonly dropped = new Map(Object.keys(REJECTIONS).map((reason) => [reason, 0]));
  sent = 0;
  /** The number of points that wait. */
  waiting = 0;
  /** The time of the newest bin that the receiver has accepted. */
  newest = Number.NEGATIVE_INFINITY;

  constructor(dependencies: SenderDependencies) {
    this.#dependencies = dependencies;
  }

  add(bin: QueuedBin): void {
    this.waiting += bin.samples.length;
    this.#queue.push(bin);
  }

  /** All bins that wait to be sent. */
  *bins(): Generator<QueuedBin> {
    for (const { bins } of this.#requests) yield* bins;
    yield* this.#queue;
  }

  /** Sends everything that waits. Returns how long to wait before the next call, in milliseconds, if the receiver fails. */
  async flush(signal: AbortSignal): Promise<number | undefined> {
    while (!signal.aborted) {
      const request = this.#requests[0] ?? this.#takeRequest();
      if (request === undefined) return undefined;
      const waitMs = await this.#deliver(request, signal);
      if (waitMs !== undefined) return waitMs;
    }
    return undefined;
  }

  /**
   * Takes the next request from the queue in the order of the times of the bins: in the order of their arrival, a receiver
   * would reject the newest together with the oldest.
   */
  #takeRequest(): Request | undefined {
    this.#queue.sort((one, other) => one.at - other.at);
    const [first] = this.#queue;
    if (first === undefined) return undefined;
    let points = 0;
    const end = this.#queue.findIndex(({ at, samples }, index) => {
      points += samples.length;
      return index > 0 && (points > this.#maxPoints || at - first.at >= MAX_REQUEST_MS);
    });
    const request = { bins: this.#queue.splice(0, end === -1 ? this.#queue.length : end), mayBeStored: false };
    this.#requests.push(request);
    return request;
  }

  async #deliver(request: Request, signal: AbortSignal): Promise<number | undefined> {
    const { send, clock, labels } = this.#dependencies;
    const response = await send(timeSeriesOf(request.bins, labels), signal).catch(asError);
    if (response instanceof Error) {
      increment(this.responses, 'network');
      request.mayBeStored = true;
      return this.#retry(response.message);
    }
    const { status, headers } = response;
    increment(this.responses, String(status));
    if (status >= 200 && status < 300) return this.#accept(request);
    const reason = rejectionOf(status, response.text.trim());
    if (reason !== undefined) return this.#reject(request, reason, textOf(response));
    if (status >= 500) request.mayBeStored = true;
    return this.#retry(textOf(response), retryAfterMs(headers['retry-after'], headers.date, clock.now()));
  }

  #accept({ bins }: Request): undefined {
    if (this.#failures > 0) this.#dependencies.log.info('The receiver of remote write accepted points again.');
    this.#failures = 0;
    this.#rejections = 0;
    this.#maxPoints = Math.min(MAX_POINTS, Math.ceil(this.#maxPoints * 1.05));
    this.#requests.shift();
    this.sent += pointsOf(bins);
    this.waiting -= pointsOf(bins);
    this.newest = Math.max(this.newest, bins.at(-1)?.at ?? 0);
  }

  /** Keeps the request as the next one. Returns how long to wait before it, in milliseconds. */
  #retry(response: string, afterMs?: number): number {
    const { log, random } = this.#dependencies;
    this.#failures += 1;
    if (this.#failures === 1)
      log.warn({ response }, 'The receiver of remote write did not accept points, which were kept to be sent again.');
    return afterMs ?? exponentialDelayMs(RETRY, this.#failures, random);
  }

  #reject({ bins, mayBeStored }: Request, reason: RejectionReason, response: string): undefined {
    this.#rejections += 1;
    this.#requests.shift();
    if (reason === 'too_large') this.#maxPoints = Math.max(1, Math.floor(pointsOf(bins) / 2));
    // A Prometheus stores a request whole or not at all. If it has newer points, it has stored the request before.
    if (reason === 'out_of_order' && mayBeStored && !bins.some(({ mayHaveArrived }) => mayHaveArrived)) {
      this.waiting -= pointsOf(bins);
      return;
    }
    const { dropped, requests } = replace(bins, reason, this.#rejections <= MAX_SEARCH);
    this.#requests.unshift(...requests.map((part) => ({ bins: part, mayBeStored: false })));
    if (dropped.length > 0) this.#drop(dropped, reason, response);
  }

  #drop(bins: readonly QueuedBin[], reason: RejectionReason, response: string): void {
    this.waiting -= pointsOf(bins);
    const lost = reason === 'out_of_order' ? bins.filter(({ mayHaveArrived }) => !mayHaveArrived) : bins;
    if (lost.length === 0) return;
    increment(this.dropped, reason, pointsOf(lost));
    if (this.#logged.has(reason)) return;
    this.#logged.add(reason);
    const { log } = this.#dependencies;
    log.warn(
      { reason, response, advice: REJECTIONS[reason] },
      'The receiver of remote write rejected points, which were lost.',
    );
  }
}

function pointsOf(bins: readonly QueuedBin[]): number {
  return bins.reduce((sum, { samples }) => sum + samples.length, 0);
}

/** The status and what the receiver says, for the log. Where a redirect leads is shown without a query, which may contain a token. */
function textOf({ status, headers: { location = 'an unknown place' }, said = '' }: ReceiverResponse): string {
  const place = location.replace(/\/\/[^/]*@/, '//').replace(/[?#].*/s, '');
  if (status >= 300 && status < 400) return `${status}: redirects to ${place}`;
  return said === '' ? String(status) : `${status}: ${said}`;
}

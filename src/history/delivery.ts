import type { Labels } from '../metrics/family.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { increment } from '../runtime/maps.ts';
import { exponentialDelayMs, type Random } from '../runtime/random.ts';
import { runInSlices } from '../runtime/slices.ts';
import type { PostResponse } from '../transport/post.ts';
import { retryAfterMs } from '../transport/retry-after.ts';
import type { HistoryCursors } from './cursors.ts';
import { BatchQueue, MAX_REQUEST, splitAt, type TaskBatch } from './queue.ts';
import { meaningOfResponse, type RejectionReason, type ResponseMeaning } from './receiver-responses.ts';
import type { Windows } from './window.ts';
import { writeRequest } from './write-request.ts';

export type Send = (headers: Labels, body: Uint8Array, signal: AbortSignal) => Promise<PostResponse>;

export interface DeliveryDependencies {
  readonly send: Send;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly cursors: HistoryCursors;
  readonly windows: Windows;
  readonly binMs: number;
  /** The service's time, in epoch milliseconds. */
  readonly now: () => number;
  /** Saves the changes of the cursors; missing without a state file. */
  readonly saveCursors?: (() => Promise<void>) | undefined;
}

type Request = readonly TaskBatch[];

interface ReceiverResponse extends ResponseMeaning {
  /** The status, or `network`. */
  readonly code: string;
  readonly text: string;
  readonly afterMs?: number | undefined;
}

export const HEADERS = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
} as const;

/** A receiver that rejects even younger points as too old has a wrong clock. */
const YOUNG_MS = 30 * 60_000;

const RETRY = { firstMs: 2_000, maxMs: 60_000 } as const;

/** After this many rejections in a row the receiver is sent one request at a time, with pauses. */
const MAX_REJECTED = 12;
const REJECTED = { firstMs: 2_000, maxMs: 600_000 } as const;

/** Sends the batches of the queue to the receiver until each is accepted, or dropped and counted. */
export class Delivery {
  readonly #dependencies: DeliveryDependencies;
  readonly #queue = new BatchQueue();
  /** Parts of a split request, which are sent before the queue. */
  readonly #prepared: Request[] = [];
  /** Batches that the receiver rejected as too old. They are dropped after it has accepted younger ones. */
  #tooOld: TaskBatch[] = [];
  /** After a rejection, tasks whose delivery is unknown begin with their newest bin. */
  #startsAtNewest = false;
  /** Whether the receiver has what a previous process sent last. */
  #hasArrived = false;
  #maxPoints: number = MAX_REQUEST.points;
  #failures = 0;
  /** Whether the receiver may accept other requests: it only requested a wait, or rejected what may be a single task. */
  #mayAcceptOthers = false;
  /** Rejections since the last accepted request. */
  #rejections = 0;
  #acceptedRequests = 0;
  /** For a batch that was rejected alone: the number of requests that the receiver had accepted by then. */
  readonly #suspects = new WeakMap<TaskBatch, number>();
  /** Whether points were rejected for their age although they are not old. */
  #isClockSuspected = false;
  readonly responses = new Map<string, number>();
  sent = 0;
  waiting = 0;

  constructor(dependencies: DeliveryDependencies) {
    this.#dependencies = dependencies;
  }

  /** Whether new points may be accepted. */
  get isHealthy(): boolean {
    return this.#failures === 0 || this.#mayAcceptOthers;
  }

  add(batch: TaskBatch): void {
    batch.cursor.batches += 1;
    this.waiting += batch.count;
    this.#queue.add(batch);
  }

  /** Sends everything that waits. Returns how long to wait, in milliseconds, if the receiver did not accept all of it. */
  async flush(signal: AbortSignal): Promise<number | undefined> {
    while (!signal.aborted) {
      const request = this.#next();
      if (request === undefined) return undefined;
      if (request.length === 0) continue;
      const response = await this.#respond(request, signal);
      increment(this.responses, response.code);
      const waitMs = this.#handle(request, response);
      if (waitMs !== undefined) return waitMs;
    }
    return undefined;
  }

  #next(): Request | undefined {
    const request = this.#prepared.shift() ?? this.#queue.next((batch) => this.#kindOf(batch), this.#maxPoints);
    if (request.length === 0) {
      this.#dropTooOld();
      // Nothing waits, so the state of the receiver is unknown.
      this.#failures = 0;
      return undefined;
    }
    const { windows, now } = this.#dependencies;
    const oldest = windows.oldestAccepted(now());
    const isNew = this.#startsAtNewest && this.#kindOf(request[0]) === 'unknown';
    return request.flatMap((batch) => {
      const unsent = this.#hasArrived ? this.#withoutArrived(batch) : batch;
      const young = unsent && this.#setAside(unsent, oldest);
      return young === undefined ? [] : ((isNew ? this.#newestOf(young) : young) ?? []);
    });
  }

  /** A receiver rejects whole requests, so a request holds only tasks of one kind. */
  #kindOf(batch: TaskBatch | undefined): unknown {
    if (batch?.cursor.isIsolated) return batch.cursor;
    if (batch?.cursor.sentUntil !== undefined) return 'doubtful';
    return batch?.cursor.isAccepted ? 'accepted' : 'unknown';
  }

  async #respond(request: Request, signal: AbortSignal): Promise<ReceiverResponse> {
    const { send, clock } = this.#dependencies;
    const body = await runInSlices(writeRequest(request.flatMap(({ series }) => series)), clock);
    await this.#saveSending(request);
    try {
      const { status, headers, text } = await send(HEADERS, body, signal);
      const leadsTo = status >= 300 && status < 400 ? `redirects to ${headers.location ?? 'an unknown place'}` : text;
      const line = leadsTo.trim().split('\n')[0]?.slice(0, 300) ?? '';
      return {
        ...meaningOfResponse(status, text.trim()),
        code: String(status),
        text: line === '' ? String(status) : `${status}: ${line}`,
        afterMs: retryAfterMs(headers['retry-after'], headers.date, clock.now()),
      };
    } catch (error) {
      return { code: 'network', effect: 'retry', reason: 'rejected', text: asError(error).message };
    }
  }

  /** Returns how long to wait before the next request, in milliseconds; undefined for no wait. */
  #handle(request: Request, response: ReceiverResponse): number | undefined {
    switch (response.effect) {
      case 'accepted':
        return this.#accepted(request);
      case 'partly':
        // One point is known to be missing, and the text is about that one.
        this.#dependencies.cursors.drop(response.reason, 1, response.text);
        return this.#accepted(request, 1);
      case 'retry':
        return this.#retry(request, response);
      case 'size':
        return this.#tooLarge(request, response);
      case 'age':
        return this.#age(request, response);
      case 'order':
        return this.#order(request, response);
      case 'invalid':
        return this.#search(request, response);
    }
  }

  #accepted(request: Request, missing = 0): undefined {
    const { log } = this.#dependencies;
    if (this.#failures > 0) log.info('remote write: the receiver accepts points again');
    this.#failures = this.#rejections = 0;
    this.#isClockSuspected = false;
    this.#acceptedRequests += 1;
    this.#maxPoints = Math.min(MAX_REQUEST.points, Math.ceil(this.#maxPoints * 1.05));
    for (const batch of request) {
      batch.cursor.isAccepted = true;
      batch.cursor.isIsolated = false;
      batch.cursor.sentUntil = undefined;
      this.#settle(batch, true);
      this.sent += batch.count;
    }
    this.sent -= missing;
    this.#dropTooOld();
  }

  /** Sends the request again later; with `letsOthersPass`, another one is sent before. */
  #retry(request: Request, response: ReceiverResponse, letsOthersPass = false): number {
    const { log, random } = this.#dependencies;
    if (letsOthersPass) this.#prepareAnother();
    this.#prepared.splice(letsOthersPass ? 1 : 0, 0, request);
    this.#failures += 1;
    this.#mayAcceptOthers = response.code === '429' || (letsOthersPass && request.length === 1);
    if (this.#failures === 1)
      log.warn({ response: response.text }, 'remote write: the receiver accepts no points; they are sent again');
    return response.afterMs ?? exponentialDelayMs(letsOthersPass ? REJECTED : RETRY, this.#failures, random);
  }

  /** Halves the request, and sends less at once from now on. */
  #tooLarge(request: Request, { reason, text }: ReceiverResponse): undefined {
    const [first] = request;
    const points = request.reduce((sum, { count }) => sum + count, 0);
    this.#maxPoints = Math.max(1, Math.floor(points / 2));
    if (request.length > 1) this.#split(request);
    else if (first !== undefined && first.times.length > 1)
      this.#splitAt(request, first.times[first.times.length >> 1]);
    else this.#drop(request, reason, text);
  }

  /**
   * Sends older points first, in requests of their own, and lowers the accepted age by a tenth until the receiver
   * accepts. If it rejects points that are not old, its clock differs, and nothing is dropped.
   */
  #age(request: Request, response: ReceiverResponse): number | undefined {
    const { windows, now: time, binMs } = this.#dependencies;
    const now = time();
    const all = request.flatMap(({ times }) => times);
    const [oldest, newest] = all.reduce(([least, most], at) => [Math.min(least, at), Math.max(most, at)], [now, 0]);
    if (this.#isClockSuspected) return this.#retry(request, response, true);
    if (now - oldest < YOUNG_MS) {
      this.#isClockSuspected = true;
      windows.limitAge(now);
      const older = this.#tooOld.splice(0);
      if (older.length > 0) this.#prepared.unshift(older);
      return this.#retry(request, response, older.length > 0);
    }
    if (now - newest < YOUNG_MS) {
      this.#splitAt(request, now - YOUNG_MS);
      return undefined;
    }
    const accepted = oldest + Math.max(binMs, (now - YOUNG_MS - oldest) / 10);
    windows.limitAge(now, accepted);
    const younger = request.flatMap((batch) => this.#setAside(batch, accepted) ?? []);
    if (younger.length > 0) this.#prepared.unshift(younger);
    return undefined;
  }

  /** Called when the receiver has newer points of a series. */
  #order(request: Request, response: ReceiverResponse): number | undefined {
    const kind = this.#kindOf(request[0]);
    const isNew = kind === 'unknown' && request.some(({ times }) => times.length > 1);
    if (!isNew && kind !== 'doubtful') return this.#search(request, response);
    // A request is stored whole or not at all: a rejection says that all of what was sent has arrived.
    if (kind === 'doubtful') this.#hasArrived = true;
    else this.#startsAtNewest = true;
    this.#prepared.unshift(request);
    return undefined;
  }

  /**
   * Halves the request to find the task that the receiver rejects. The points of that task are dropped only after
   * another request was accepted, because the receiver may reject everything.
   */
  #search(request: Request, response: ReceiverResponse): number | undefined {
    this.#rejections += 1;
    const [only] = request;
    if (request.length > 1 && this.#rejections <= MAX_REJECTED) {
      this.#split(request);
      return undefined;
    }
    if (request.length > 1 || only === undefined) return this.#retry(request, response, true);
    const acceptedBefore = this.#suspects.get(only) ?? this.#acceptedRequests;
    this.#suspects.set(only, acceptedBefore);
    if (only.cursor.isIsolated || this.#acceptedRequests > acceptedBefore) {
      only.cursor.isIsolated = true;
      this.#drop(request, response.reason, response.text);
      return undefined;
    }
    this.#prepareAnother();
    if (this.#rejections > MAX_REJECTED || this.#prepared.length === 0) return this.#retry(request, response, true);
    this.#prepared.splice(1, 0, request);
    return undefined;
  }

  /** Takes a request from the queue if none is prepared. */
  #prepareAnother(): void {
    if (this.#prepared.length > 0) return;
    const next = this.#queue.next((batch) => this.#kindOf(batch), this.#maxPoints);
    if (next.length > 0) this.#prepared.push(next);
  }

  #split(request: Request): void {
    const middle = request.length >> 1;
    this.#prepared.unshift(request.slice(0, middle), request.slice(middle));
  }

  #splitAt(request: Request, time = Number.POSITIVE_INFINITY): void {
    const parts = request.map((batch) => splitAt(batch, time));
    const requests = [0, 1].map((part) => parts.flatMap((both) => both[part] ?? []));
    this.#prepared.unshift(...requests.filter(({ length }) => length > 0));
  }

  /** Keeps what is older for later; returns the rest. */
  #setAside(batch: TaskBatch, oldest: number): TaskBatch | undefined {
    if ((batch.times[0] ?? oldest) >= oldest) return batch;
    const [older, younger] = splitAt(batch, oldest);
    if (older !== undefined) this.#tooOld.push(older);
    return younger;
  }

  #withoutArrived(batch: TaskBatch): TaskBatch | undefined {
    const { sentUntil } = batch.cursor;
    batch.cursor.sentUntil = undefined;
    if (sentUntil === undefined) return batch;
    const [arrived, unsent] = splitAt(batch, sentUntil + 1);
    if (arrived !== undefined) this.#settle(arrived, true);
    return unsent;
  }

  async #saveSending(request: Request): Promise<void> {
    const { cursors, saveCursors } = this.#dependencies;
    if (saveCursors === undefined) return;
    cursors.sending(request.map(({ cursor, times }) => [cursor.task, times.at(-1) ?? cursor.at]));
    await saveCursors();
  }

  #newestOf(batch: TaskBatch): TaskBatch | undefined {
    const [older, newest] = splitAt(batch, batch.times.at(-1) ?? 0);
    if (older !== undefined)
      this.#drop([older], 'out_of_order', 'the receiver has newer points of tasks without a cursor');
    return newest;
  }

  #dropTooOld(): void {
    const text = 'the receiver rejects points of this age';
    if (this.#tooOld.length > 0) this.#drop(this.#tooOld.splice(0), 'too_old', text);
  }

  #drop(request: Request, reason: RejectionReason, text: string): void {
    for (const batch of request) {
      this.#dependencies.cursors.drop(reason, batch.count, text);
      this.#settle(batch, false);
    }
  }

  #settle(batch: TaskBatch, isDelivered: boolean): void {
    const { cursor, times, seen, count } = batch;
    this.#dependencies.cursors.advance(cursor, times, isDelivered, seen);
    cursor.batches -= 1;
    this.waiting -= count;
  }
}

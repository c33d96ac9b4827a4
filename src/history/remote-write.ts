import { EventEmitter, once } from 'node:events';
import type { Fields, Labels } from '../metrics/family.ts';
import type { Sample } from '../metrics/samples.ts';
import type { Origin, Sink } from '../metrics/sink.ts';
import type { Reading } from '../metrics/snapshot.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { addTo } from '../runtime/maps.ts';
import { backOffMs, type Random } from '../runtime/random.ts';
import { after, halves, type Parcel, parcelOf, until } from './batch.ts';
import { HistoryCursors } from './cursors.ts';
import { newPoints } from './new-points.ts';
import { type Delivery, type PointRefusal, Receiver, type Send } from './receiver.ts';

export interface RemoteWriteSettings {
  /** Labels added to every series. */
  readonly labels: Labels;
  /** How far back gaps are filled. */
  readonly catchUpMs: number;
  /** Whether the sent series stay on `/metrics`. */
  readonly isExposedToo: boolean;
  /** How long one round over all tasks takes. */
  readonly sweepMs: number;
  /** The period of a normal request. */
  readonly lookbackMs: number;
}

export interface RemoteWriteParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Why points are dropped, by the receiver or because of the answer they are in. */
const DROPS = ['out_of_order', 'too_old', 'too_large', 'rejected', 'duplicate', 'future', 'changed'];

type Trouble = Extract<Delivery, { state: 'later' }>;

/** The most points in one request; receivers accept some megabytes. */
const MOST_SENT = 10_000;

/** The most waiting points. Points that do not fit are requested again, so nothing is lost. */
const MOST_WAITING = 200_000;

/**
 * How long parcels are collected before they are sent together; those that fill gaps for a whole round. Prometheus
 * without an out-of-order window rejects points an hour older than its newest point of any series, so all waiting
 * points are sent in the order of time: one slice of all series after the other.
 */
const GATHER_MS = 1_000;
const SLICE_MS = 30 * 60_000;

const BACK_OFF = { firstMs: 2_000, longestMs: 60_000 } as const;

/**
 * Sends every point once, in order, to one receiver. It stores no history: a cursor for each task marks what has
 * arrived, and the rest is requested from the service again. So points lost here, in a kill or for lack of memory, are
 * only delayed.
 */
export class RemoteWrite implements Sink {
  readonly cursors = new HistoryCursors();
  /** The cursors, as the state file has them. */
  readonly kept = {
    counts: {
      state: () => ({ cursors: this.cursors.state(this.#parts.clock.now()) }),
      restore: ({ cursors }: Fields) => this.cursors.restore(cursors),
    },
  };
  readonly #settings: RemoteWriteSettings;
  readonly #parts: RemoteWriteParts;
  readonly #receiver: Receiver;
  readonly #waiting = new Map<string, Parcel>();
  readonly #news = new EventEmitter();
  /** The start of each task's last request, if it has a cursor and the receiver answers. */
  readonly #asked = new Map<string, number>();
  readonly #told = new Set<PointRefusal>();
  readonly #counts = {
    sent: 0,
    dropped: new Map(DROPS.map((reason) => [reason, 0])),
    holes: new Map(['closed', 'lost'].map((outcome) => [outcome, 0])),
    answers: new Map<string, number>(),
    /** Points. */
    waiting: 0,
  };
  #failures = 0;

  constructor(settings: RemoteWriteSettings, send: Send, parts: RemoteWriteParts) {
    this.#settings = settings;
    this.#parts = parts;
    this.#receiver = new Receiver(send, parts.clock, (code) => addTo(this.#counts.answers, code));
  }

  status() {
    const { newest } = this.cursors;
    return { ...this.#counts, newestSeconds: newest && newest / 1000 };
  }

  /** Whether the receiver answered the latest request without an error. */
  get isWell(): boolean {
    return this.#failures === 0;
  }

  /**
   * The start of the points that a task needs, in milliseconds since the Unix epoch; undefined for the usual period.
   * While the receiver fails, only the usual period is requested: more could not be sent.
   */
  wantedSince(task: string): number | undefined {
    const cursor = this.cursors.of(task);
    this.#asked.delete(task);
    if (cursor === undefined || !this.isWell) return undefined;
    const since = Math.max(cursor.at, this.#parts.clock.now() - this.#settings.catchUpMs);
    this.#asked.set(task, since);
    return since;
  }

  /** Never waits for the receiver. */
  accept({ id }: Origin, { points }: Reading): Promise<void> {
    if (points !== undefined) this.#take(id, points);
    return Promise.resolve();
  }

  /** Points that have arrived stay there. */
  withdraw(): void {}

  /** Each series has one writer: what is sent is not exposed. */
  leaves(reading: Reading): Reading {
    if (this.#settings.isExposedToo || reading.points === undefined) return reading;
    return { ...reading, samples: [...reading.samples].filter(({ at }) => at === undefined) };
  }

  /** Sends new points until `signal` aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#parts;
    while (!signal.aborted) {
      await this.#somethingToSend(signal);
      const isCatchingUp = [...this.#waiting.values()].some(({ closesHole }) => closesHole);
      await clock.sleep(isCatchingUp ? this.#settings.sweepMs : GATHER_MS, signal);
      const trouble = await this.flush(signal);
      if (trouble === undefined) continue;
      await clock.sleep(trouble.afterMs ?? backOffMs(BACK_OFF, this.#failures, random), signal);
    }
  }

  /** Sends all waiting points; returns the receiver's error if there is one, and then the rest keeps waiting. */
  async flush(signal: AbortSignal): Promise<Trouble | undefined> {
    while (this.#waiting.size > 0 && !signal.aborted) {
      const trouble = await this.#deliver(this.#next(), signal);
      if (trouble === undefined) continue;
      if (!signal.aborted) this.#failed(trouble);
      return trouble;
    }
    return undefined;
  }

  #take(task: string, points: Iterable<Sample>): void {
    const cursor = this.cursors.of(task);
    const asked = this.#asked.get(task);
    this.#asked.delete(task);
    const now = this.#parts.clock.now();
    const news = newPoints(points, cursor, now, this.#settings.labels);
    const reaches = cursor === undefined || news.oldest === undefined || news.oldest <= cursor.at;
    // The gap was not requested yet: it is, once the receiver answers again.
    if (!reaches && asked === undefined) return;
    for (const [reason, count] of news.unfit) addTo(this.#counts.dropped, reason, count);
    const isLong = asked !== undefined && now - asked > this.#settings.lookbackMs;
    const parcel = parcelOf(task, news, isLong);
    if (parcel === undefined) return;
    if (cursor !== undefined && asked !== undefined && asked > cursor.at && !reaches) addTo(this.#counts.holes, 'lost');
    this.#replace(task, undefined);
    if (this.#counts.waiting + parcel.count > MOST_WAITING) return;
    this.#replace(task, parcel);
    this.#news.emit('parcel');
  }

  /** Replaces what waits of a task; undefined if nothing does. */
  #replace(task: string, parcel: Parcel | undefined): void {
    this.#counts.waiting += (parcel?.count ?? 0) - (this.#waiting.get(task)?.count ?? 0);
    if (parcel === undefined) this.#waiting.delete(task);
    else this.#waiting.set(task, parcel);
  }

  async #somethingToSend(signal: AbortSignal): Promise<void> {
    if (this.#waiting.size > 0) return;
    // Rejects if the signal aborts.
    await once(this.#news, 'parcel', { signal }).catch(() => {});
  }

  /** The next request: the oldest of all waiting points, a slice of time of every task. They wait until they arrive. */
  #next(): readonly Parcel[] {
    const waiting = [...this.#waiting.values()];
    const oldest = waiting.reduce((least, parcel) => Math.min(least, parcel.oldest), Number.POSITIVE_INFINITY);
    const batch: Parcel[] = [];
    let points = 0;
    for (const parcel of waiting) {
      if (parcel.oldest > oldest + SLICE_MS) continue;
      const first = until(parcel, oldest + SLICE_MS);
      if (points > 0 && points + first.count > MOST_SENT) break;
      batch.push(first);
      points += first.count;
    }
    return batch;
  }

  /** Resolves when all of it was accepted or rejected; with an error if some of it has to be sent again. */
  async #deliver(batch: readonly Parcel[], signal: AbortSignal): Promise<Trouble | undefined> {
    const delivery = await this.#receiver.deliver(
      batch.flatMap(({ series }) => series),
      signal,
    );
    if (delivery.state === 'later') return delivery;
    this.#recovered();
    if (delivery.state === 'refused') return this.#refused(batch, delivery, signal);
    const refused = delivery.state === 'partly' ? delivery.refused : 0;
    if (delivery.state === 'partly') this.#drop(delivery.reason, refused, delivery.text);
    this.#counts.sent += batch.reduce((sum, { count }) => sum + count, 0) - refused;
    for (const parcel of batch) this.#arrived(parcel);
    return undefined;
  }

  #arrived({ task, cursor, closesHole, isPart }: Parcel): void {
    if (isPart) return;
    this.cursors.advance(task, cursor);
    const waiting = this.#waiting.get(task);
    if (waiting !== undefined) this.#replace(task, after(waiting, cursor.at));
    if (closesHole) addTo(this.#counts.holes, 'closed');
  }

  /**
   * A receiver of 1.0 rejects a request because of one of its points, so the rejected points are searched: by task,
   * then by time if a point is older than the receiver's, as after a kill, else by series.
   */
  async #refused(
    batch: readonly Parcel[],
    { reason, text }: { readonly reason: PointRefusal; readonly text: string },
    signal: AbortSignal,
  ): Promise<Trouble | undefined> {
    const [only] = batch;
    if (only === undefined) return undefined;
    if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      return (await this.#deliver(batch.slice(0, middle), signal)) ?? this.#deliver(batch.slice(middle), signal);
    }
    const { oldest } = only;
    const [first, rest] = reason === 'rejected' ? halves(only) : [until(only, oldest), after(only, oldest)];
    if (rest !== undefined) return (await this.#deliver([first], signal)) ?? this.#deliver([rest], signal);
    this.#drop(reason, only.count, text);
    this.#arrived({ ...only, closesHole: false });
    return undefined;
  }

  #drop(reason: PointRefusal, points: number, answer: string): void {
    addTo(this.#counts.dropped, reason, points);
    if (this.#told.has(reason)) return;
    this.#told.add(reason);
    this.#parts.log.warn({ reason, answer }, 'remote write: the receiver rejected points; dropped');
  }

  #failed({ text: answer }: Trouble): void {
    this.#failures += 1;
    if (this.#failures === 1)
      this.#parts.log.warn({ answer }, 'remote write: the receiver accepts no points; retrying');
  }

  #recovered(): void {
    if (this.#failures > 0) this.#parts.log.info('remote write: the receiver accepts points again');
    this.#failures = 0;
  }
}

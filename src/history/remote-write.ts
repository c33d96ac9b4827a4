import type { PeriodPoints, PollResult } from '../contract/poll-result.ts';
import type { ResultSource, Sink } from '../contract/sink.ts';
import type { JsonObject, Labels } from '../metrics/family.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { getOrCreate, increment } from '../runtime/maps.ts';
import { exponentialDelayMs, type Random } from '../runtime/random.ts';
import { after, halves, type Parcel, parcelOf, until } from './batch.ts';
import { HistoryCursors } from './cursors.ts';
import { newPoints } from './new-points.ts';
import { deliver, type PointRefusal, type Send, type Trouble } from './receiver.ts';

export interface RemoteWriteOptions {
  readonly labels: Labels;
  /** How far back gaps are filled. */
  readonly catchUpMs: number;
  /** Whether the sent series stay on `/metrics`. */
  readonly isExposedToo: boolean;
  readonly sweepMs: number;
  readonly lookbackMs: number;
  readonly binMs: number;
}

export interface RemoteWriteDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

const DROPS = ['out_of_order', 'too_old', 'too_large', 'rejected', 'duplicate', 'future', 'changed'];

/**
 * Why bins were never read. `catch_up`: they were older than that when they were asked for. `rejected`: the service
 * rejects every period with them. `unread`: it could not give them for {@link PATIENCE_MS}, but newer ones.
 */
const LOSSES = ['catch_up', 'rejected', 'unread'];

/** How long newer points wait for an older part that the service cannot give: a receiver may demand order. */
const PATIENCE_MS = 3_600_000;

/** The most requests that a receiver may reject in a row before a pause, and after one. */
const MAX_REJECTED = { first: 20, again: 8 } as const;

/** The most points in one request; receivers accept some megabytes. */
const MAX_SENT = 10_000;

/** The most waiting points. Points that do not fit are requested again, so nothing is lost. */
const MAX_WAITING = 200_000;

/**
 * How long parcels are collected; those that fill gaps for a whole round. Prometheus without an out-of-order window
 * rejects points an hour older than its newest one of any series, so one slice of time of all series follows another.
 */
const GATHER_MS = 1_000;
const SLICE_MS = 30 * 60_000;

const BACK_OFF = { firstMs: 2_000, longestMs: 60_000 } as const;

/**
 * Sends every point once, in order, to one receiver. It stores no history: a cursor for each task marks what has
 * arrived, and the rest is requested from the service again, so a kill only delays it.
 */
export class RemoteWrite implements Sink {
  readonly cursors = new HistoryCursors();
  readonly #settings: RemoteWriteOptions;
  readonly #parts: RemoteWriteDependencies;
  readonly #send: Send;
  readonly #waiting = new Map<string, Parcel>();
  /** Since when a task's points wait for an older part, in monotonic milliseconds. */
  readonly #incomplete = new Map<string, number>();
  readonly #told = new Set<string>();
  readonly #counts = {
    sent: 0,
    dropped: new Map(DROPS.map((reason) => [reason, 0])),
    /** In seconds of one task. */
    lost: new Map(LOSSES.map((reason) => [reason, 0])),
    answers: new Map<string, number>(),
    waiting: 0,
  };
  #failures = 0;
  /** What is rejected alone is dropped once the receiver accepts something else: until then it may reject everything. */
  #suspects: { readonly task: string; readonly text: string; readonly drop: () => void }[] = [];
  /** Requests rejected since one was last accepted, and how many are sent before a pause. */
  #rejections = 0;
  #maxRejections = 0;

  constructor(settings: RemoteWriteOptions, send: Send, parts: RemoteWriteDependencies) {
    this.#settings = settings;
    this.#parts = parts;
    this.#send = send;
  }

  status() {
    const { newest } = this.cursors;
    return { ...this.#counts, newestSeconds: newest && newest / 1000 };
  }

  get isWell(): boolean {
    return this.#failures === 0;
  }

  /**
   * The start of the points that a task needs; undefined for the usual period, as while the receiver fails: more could not
   * be sent. Both moments are by the service's clock, in epoch milliseconds.
   */
  wantedSince(task: string, now: number): number | undefined {
    const { binMs, catchUpMs, lookbackMs } = this.#settings;
    const bin = (moment: number) => Math.floor(moment / binMs) * binMs;
    const { at, sum } = this.cursors.begin(task, bin(now - lookbackMs), bin(now - catchUpMs));
    // The last bin again, if its values are known: they may have changed.
    return this.isWell ? Math.max(sum === undefined ? at + binMs : at, now - catchUpMs) : undefined;
  }

  accept({ id }: ResultSource, { points }: PollResult): Promise<void> {
    if (points !== undefined) this.#take(id, points);
    return Promise.resolve();
  }

  withdraw(): void {}

  leaves(reading: PollResult): PollResult {
    if (this.#settings.isExposedToo || reading.points === undefined) return reading;
    return { ...reading, samples: [...reading.samples].filter(({ at }) => at === undefined) };
  }

  /** Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random } = this.#parts;
    const { lookbackMs, sweepMs } = this.#settings;
    while (!signal.aborted) {
      await clock.sleep(GATHER_MS, signal);
      const isGap = [...this.#waiting.values()].some(({ oldest, cursor }) => cursor.at - oldest > lookbackMs + sweepMs);
      if (isGap) await clock.sleep(sweepMs - GATHER_MS, signal);
      const trouble = await this.flush(signal);
      if (trouble === undefined) continue;
      await clock.sleep(trouble.afterMs ?? exponentialDelayMs(BACK_OFF, this.#failures, random), signal);
    }
  }

  /** Sends all waiting points; returns the receiver's error if there is one, and then the rest keeps waiting. */
  async flush(signal: AbortSignal): Promise<Trouble | undefined> {
    this.#suspects = [];
    this.#maxRejections = this.#rejections > 0 ? this.#rejections + MAX_REJECTED.again : MAX_REJECTED.first;
    while (this.#waiting.size > 0 && !signal.aborted) {
      const trouble = (await this.#deliver(this.#next(), signal)) ?? this.#allSuspected();
      if (trouble === undefined) continue;
      if (!signal.aborted) this.#failed(trouble);
      return trouble;
    }
    return undefined;
  }

  #take(task: string, points: PeriodPoints): void {
    const { binMs, catchUpMs, labels, lookbackMs } = this.#settings;
    const { requestedAt: now, requestedFrom, coveredFrom } = points;
    const known = this.cursors.of(task);
    if (known === undefined) return;
    const needed = known.at + binMs;
    const available = Math.max(needed, now - catchUpMs);
    // The gap was not requested yet: it is, once the receiver answers again.
    if (requestedFrom > available) return;
    if (coveredFrom > available && !points.earlierRejected && !this.#isGivenUp(task)) return;
    this.#incomplete.delete(task);
    this.#lose(task, needed, Math.min(coveredFrom, available), 'catch_up');
    this.#lose(task, available, coveredFrom, points.earlierRejected ? 'rejected' : 'unread');
    const news = newPoints(points, this.cursors.of(task) ?? known, { binMs, labels, now });
    for (const [reason, count] of news.unfit) increment(this.#counts.dropped, reason, count);
    const parcel = parcelOf(task, news);
    if (parcel === undefined) {
      // The service has nothing up to here. Points of an appliance that has had some may still come late.
      const passed = known.sum === undefined ? now - lookbackMs - 2 * binMs : now - catchUpMs;
      this.cursors.pass(task, { at: Math.floor(passed / binMs) * binMs, sum: undefined });
      return;
    }
    this.#replace(task, undefined);
    if (this.#counts.waiting + parcel.count > MAX_WAITING) return;
    this.#replace(task, parcel);
  }

  #isGivenUp(task: string): boolean {
    const now = this.#parts.clock.monotonic();
    return now - getOrCreate(this.#incomplete, task, () => now) > PATIENCE_MS;
  }

  /** Counts the bins that begin in a period as lost, once: the cursor passes them. */
  #lose(task: string, from: number, to: number, reason: string): void {
    const { binMs } = this.#settings;
    const bins = Math.ceil(to / binMs) - Math.ceil(from / binMs);
    if (bins <= 0) return;
    increment(this.#counts.lost, reason, (bins * binMs) / 1000);
    this.cursors.pass(task, { at: (Math.ceil(to / binMs) - 1) * binMs, sum: undefined });
    this.#tell(`lost ${reason}`, { reason, task, bins }, 'remote write: minutes are lost; not read in time');
  }

  #replace(task: string, parcel: Parcel | undefined): void {
    this.#counts.waiting += (parcel?.count ?? 0) - (this.#waiting.get(task)?.count ?? 0);
    if (parcel === undefined) this.#waiting.delete(task);
    else this.#waiting.set(task, parcel);
  }

  /** The receiver's answer, if it has rejected every waiting task and accepted nothing. */
  #allSuspected(): Trouble | undefined {
    const [one] = this.#suspects;
    const tasks = new Set(this.#suspects.map(({ task }) => task));
    return one && tasks.size >= this.#waiting.size ? { afterMs: undefined, text: one.text } : undefined;
  }

  /** The oldest slice of time of every waiting task; after a rejection that nothing explains, of one after the other. */
  #next(): readonly Parcel[] {
    const waiting = [...this.#waiting.values()];
    const [first] = waiting;
    if (this.#rejections > 0 && first !== undefined) {
      // So that another one follows.
      this.#waiting.delete(first.task);
      this.#waiting.set(first.task, first);
      return [until(first, first.oldest + SLICE_MS)];
    }
    const oldest = waiting.reduce((least, parcel) => Math.min(least, parcel.oldest), Number.POSITIVE_INFINITY);
    const batch: Parcel[] = [];
    let points = 0;
    for (const parcel of waiting) {
      if (parcel.oldest > oldest + SLICE_MS) continue;
      const first = until(parcel, oldest + SLICE_MS);
      if (points > 0 && points + first.count > MAX_SENT) break;
      batch.push(first);
      points += first.count;
    }
    return batch;
  }

  /** Resolves with an error if some of it has to be sent again. */
  async #deliver(batch: readonly Parcel[], signal: AbortSignal): Promise<Trouble | undefined> {
    const { clock } = this.#parts;
    const all = batch.flatMap(({ series }) => series);
    const delivery = await deliver(this.#send, all, () => clock.now(), signal);
    increment(this.#counts.answers, delivery.code);
    if (delivery.state === 'later') return delivery;
    if (delivery.state === 'refused') return this.#refused(batch, delivery, signal);
    this.#accepted();
    this.#counts.sent += batch.reduce((sum, { count }) => sum + count, 0);
    for (const parcel of batch) this.#arrived(parcel);
    return undefined;
  }

  #arrived({ task, cursor, isPart }: Parcel): void {
    if (isPart) return;
    this.cursors.arrived(task, cursor);
    const waiting = this.#waiting.get(task);
    if (waiting !== undefined) this.#replace(task, after(waiting, cursor.at));
  }

  /**
   * A receiver rejects a request because of one of its points, which is searched: by task, then by time if it is older
   * than the receiver's, as after a kill, else by series.
   */
  async #refused(
    batch: readonly Parcel[],
    { reason, text }: { readonly reason: PointRefusal; readonly text: string },
    signal: AbortSignal,
  ): Promise<Trouble | undefined> {
    const [only] = batch;
    if (only === undefined) return undefined;
    const isOfPoints = reason === 'out_of_order' || reason === 'too_old';
    if (!isOfPoints) this.#rejections += 1;
    if (this.#rejections >= this.#maxRejections) return { afterMs: undefined, text };
    if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      return (await this.#deliver(batch.slice(0, middle), signal)) ?? this.#deliver(batch.slice(middle), signal);
    }
    const { oldest } = only;
    const [first, rest] = reason === 'rejected' ? halves(only) : [until(only, oldest), after(only, oldest)];
    if (rest !== undefined) return (await this.#deliver([first], signal)) ?? this.#deliver([rest], signal);
    const drop = () => {
      this.#drop(reason, only.count, text);
      this.#arrived(only);
    };
    if (isOfPoints) drop();
    else this.#suspects.push({ task: only.task, text, drop });
    return undefined;
  }

  #drop(reason: PointRefusal, points: number, answer: string): void {
    increment(this.#counts.dropped, reason, points);
    this.#tell(reason, { reason, answer }, 'remote write: the receiver rejected points; dropped');
  }

  #tell(kind: string, facts: JsonObject, message: string): void {
    if (!this.#told.has(kind)) this.#parts.log.warn(facts, message);
    this.#told.add(kind);
  }

  #failed({ text: answer }: Trouble): void {
    this.#failures += 1;
    if (this.#failures === 1)
      this.#parts.log.warn({ answer }, 'remote write: the receiver accepts no points; retrying');
  }

  #accepted(): void {
    if (this.#failures > 0) this.#parts.log.info('remote write: the receiver accepts points again');
    this.#failures = 0;
    this.#rejections = 0;
    this.#maxRejections = MAX_REJECTED.first;
    for (const { drop } of this.#suspects.splice(0)) drop();
  }
}

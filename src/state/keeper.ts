import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { inSlices } from '../runtime/slices.ts';
import { decode, encode, StateFault } from './format.ts';
import { PatientStore } from './patient-store.ts';
import type { StateStore } from './store.ts';

/** A poll waits so long for the disk, and the start or a stop no longer, in milliseconds. */
const DISK_PATIENCE_MS = 10_000;

/** What cannot be read at the start is tried again for so long, so often, in milliseconds. */
const READ_AGAIN = { forMs: 5_000, everyMs: 500 } as const;

/** What is to be kept, and whose it is. */
export interface Kept {
  /** By API, what tells this instance's state from another's. What is not polled has none. */
  readonly owners: Readonly<Record<string, string>>;
  /** All of it, as JSON values. */
  values(): Iterable<unknown>;
  /** Takes all of it back, `elapsedMs` after it was saved; throws where it cannot, and then has taken nothing. */
  restore(values: readonly unknown[], elapsedMs: number): Generator<void>;
}

/** The first line: when it was saved, by the wall clock, and whose it is. */
interface Preface {
  readonly savedAt: number;
  readonly owners: Readonly<Record<string, string>>;
}

/**
 * What is known of what lies in the place. `unread`: it could not be read, and may be whole and ours: it stays until it can be. `foreign`: it is not
 * ours, or damaged, and must go aside first. `ours`: it may be written over.
 */
type Place = 'unread' | 'foreign' | 'ours';

/** Carries what is kept over restarts. Whatever goes wrong costs a warning and never the process, nor its time. */
export class StateKeeper {
  readonly #store: StateStore;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Undefined before something is loaded: `--plan` builds the program and reads no state, so it writes none. */
  #kept: Kept | undefined;
  #place: Place = 'unread';
  #isFailing = false;
  #errors = 0;

  constructor(store: StateStore, clock: Clock, log: Log) {
    this.#store = new PatientStore(store, clock, DISK_PATIENCE_MS);
    this.#clock = clock;
    this.#log = log;
  }

  /** How many reads and writes have failed, those that were late among them. */
  get errors(): number {
    return this.#errors;
  }

  /**
   * Takes back what was saved, if it is there, whole and ours; what is not goes aside. From then on `save` has it kept. Where the disk does not let it be
   * read, counting begins without it after some seconds. Never rejects.
   */
  async load(kept: Kept): Promise<void> {
    let content: Buffer | undefined;
    try {
      content = await this.#readPatiently();
    } catch (error) {
      this.#kept = kept;
      this.#isFailing = true;
      this.#log.warn(
        { err: asError(error) },
        'the state file cannot be read: counting begins without it, and it stays as it is until it can be',
      );
      return;
    }
    try {
      if (content !== undefined) await this.#takeBack(content, kept);
      this.#place = 'ours';
    } catch (error) {
      this.#errors += 1;
      await this.#refuse(asError(error).message);
    }
    this.#kept = kept;
  }

  /** Puts what was saved aside, for it turns out not to be ours; counting begins anew. Never rejects. */
  async disown(reason: string): Promise<void> {
    if (this.#place === 'ours') await this.#refuse(reason);
  }

  /**
   * Writes what is to be kept, and waits no longer than some seconds for it. Never rejects; one warning when writing begins
   * to fail or to be late, one line when it works again.
   */
  async save(): Promise<void> {
    const kept = this.#kept;
    if (kept === undefined) return;
    try {
      await this.#makeRoom();
      const preface: Preface = { savedAt: this.#clock.now(), owners: kept.owners };
      await this.#store.write(await inSlices(encode(withPreface(preface, kept.values())), this.#clock));
      if (this.#isFailing) this.#log.info('state file written again');
      this.#isFailing = false;
    } catch (error) {
      this.#errors += 1;
      if (!this.#isFailing) this.#log.warn({ err: asError(error) }, 'state file not written; continuing without it');
      this.#isFailing = true;
    }
  }

  /** Saves every `intervalMs` until `signal` aborts: for an instance whose polls do not save by themselves. */
  async run(intervalMs: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#clock.sleep(intervalMs, signal);
      if (signal.aborted) return;
      await this.save();
    }
  }

  /** What lies in the place. A fault that may pass, such as too many open files, is waited out for a while. */
  async #readPatiently(): Promise<Buffer | undefined> {
    const until = this.#clock.monotonic() + READ_AGAIN.forMs;
    for (;;) {
      try {
        return await this.#store.read();
      } catch (error) {
        this.#errors += 1;
        if (this.#clock.monotonic() >= until) throw error;
      }
      await this.#clock.sleep(READ_AGAIN.everyMs);
    }
  }

  async #takeBack(content: Buffer, kept: Kept): Promise<void> {
    const [preface, ...values] = await inSlices(decode(content), this.#clock);
    const { savedAt, owners } = prefaceOf(preface);
    const isForeign = Object.entries(kept.owners).some(([api, own]) => (owners[api] ?? own) !== own);
    if (isForeign) throw new StateFault('it is of another client key, or of another service');
    // The wall clock may have been set back: never younger than when it was saved.
    const elapsedMs = Math.max(0, this.#clock.now() - savedAt);
    await inSlices(kept.restore(values, elapsedMs), this.#clock);
    this.#log.info({ secondsAgo: Math.round(elapsedMs / 1000) }, 'state file read');
  }

  async #refuse(reason: string): Promise<void> {
    this.#place = 'foreign';
    try {
      const name = await this.#setAside('damaged');
      this.#log.warn({ reason, name }, 'state file not usable; moved aside; counting begins anew');
    } catch (error) {
      this.#log.warn({ reason, err: asError(error) }, 'state file not usable, and not moved aside');
    }
  }

  /** Sees to it that nothing is written over that is not ours, or that nobody has looked at. */
  async #makeRoom(): Promise<void> {
    if (this.#place === 'foreign') await this.#setAside('damaged');
    if (this.#place !== 'unread') return;
    if ((await this.#store.read()) !== undefined) {
      const name = await this.#setAside('unread');
      // To go on from it now would make every counter jump, and Prometheus would take that for events.
      this.#log.warn({ name }, 'state file read too late to continue from it; moved aside');
    }
    this.#place = 'ours';
  }

  async #setAside(word: string): Promise<string | undefined> {
    const name = await this.#store.setAside(word, new Date(this.#clock.now()));
    this.#place = 'ours';
    return name;
  }
}

function* withPreface(preface: Preface, values: Iterable<unknown>): Generator<unknown> {
  yield preface;
  yield* values;
}

function prefaceOf(value: unknown): Preface {
  const { savedAt, owners } = (value ?? {}) as Partial<Preface>;
  if (Number.isFinite(savedAt) && typeof savedAt === 'number' && typeof owners === 'object' && owners !== null)
    return { savedAt, owners };
  throw new StateFault('it is damaged: it does not say when it was saved');
}

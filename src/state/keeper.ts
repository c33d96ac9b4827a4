import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import { inSlices } from '../runtime/slices.ts';
import { decode, encode, StateFault } from './format.ts';
import type { StateStore } from './store.ts';

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

/** Carries what is kept over restarts. Whatever goes wrong costs a warning and never the process. */
export class StateKeeper {
  readonly #store: StateStore;
  readonly #kept: Kept;
  readonly #clock: Clock;
  readonly #log: Log;
  #isLoaded = false;
  /** Something that is not ours lies in the place: it must go aside before anything is written. */
  #mustSetAside = false;
  #isFailing = false;
  #errors = 0;

  constructor(store: StateStore, kept: Kept, clock: Clock, log: Log) {
    this.#store = store;
    this.#kept = kept;
    this.#clock = clock;
    this.#log = log;
  }

  /** How many reads and writes have failed. */
  get errors(): number {
    return this.#errors;
  }

  /** Takes back what was saved, if it is there, whole and ours; else puts it aside. Never rejects. */
  async load(): Promise<void> {
    this.#isLoaded = true;
    try {
      const content = await this.#store.read();
      if (content === undefined) return;
      const [preface, ...values] = await inSlices(decode(content), this.#clock);
      const { savedAt, owners } = prefaceOf(preface);
      const isForeign = Object.entries(this.#kept.owners).some(([api, own]) => (owners[api] ?? own) !== own);
      if (isForeign) throw new StateFault('it is of another client key, or of another service');
      // The wall clock may have been set back: never younger than when it was saved.
      const elapsedMs = Math.max(0, this.#clock.now() - savedAt);
      await inSlices(this.#kept.restore(values, elapsedMs), this.#clock);
      this.#log.info({ secondsAgo: Math.round(elapsedMs / 1000) }, 'the state file was read');
    } catch (error) {
      this.#errors += 1;
      await this.disown(asError(error).message);
    }
  }

  /** Puts what is there aside, for it is not ours or cannot be read; counting begins anew. Never rejects. */
  async disown(reason: string): Promise<void> {
    this.#mustSetAside = true;
    try {
      const name = await this.#setAside();
      this.#log.warn({ reason, name }, 'the state file cannot be used and was put aside; counting begins anew');
    } catch (error) {
      this.#log.warn({ reason, err: asError(error) }, 'the state file cannot be used, and not be put aside either');
    }
  }

  /** Writes what is to be kept. Never rejects; one warning when writing begins to fail, one line when it works again. */
  async save(): Promise<void> {
    // What was not read must not be overwritten: `--plan` builds the program and reads no state.
    if (!this.#isLoaded) return;
    try {
      if (this.#mustSetAside) await this.#setAside();
      const preface: Preface = { savedAt: this.#clock.now(), owners: this.#kept.owners };
      await this.#store.write(await inSlices(encode(withPreface(preface, this.#kept.values())), this.#clock));
      if (this.#isFailing) this.#log.info('the state file can be written again');
      this.#isFailing = false;
    } catch (error) {
      this.#errors += 1;
      if (!this.#isFailing)
        this.#log.warn({ err: asError(error) }, 'the state file cannot be written; going on without');
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

  async #setAside(): Promise<string | undefined> {
    const stamp = new Date(this.#clock.now()).toISOString().replaceAll(/[:.]/g, '-');
    const name = await this.#store.setAside(`damaged-${stamp}`);
    this.#mustSetAside = false;
    return name;
  }
}

function* withPreface(preface: Preface, values: Iterable<unknown>): Generator<unknown> {
  yield preface;
  yield* values;
}

function prefaceOf(value: unknown): Preface {
  const { savedAt, owners } = (value ?? {}) as Partial<Preface>;
  if (typeof savedAt === 'number' && typeof owners === 'object' && owners !== null) return { savedAt, owners };
  throw new StateFault('it is damaged: it does not say when it was saved');
}

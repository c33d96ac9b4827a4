import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { SavedPart } from '../contract/saved-part.ts';
import { isJsonObject } from '../metrics/family.ts';
import { type Clock, nextTurn, withTimeout } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { Log } from '../runtime/log.ts';
import type { ConfiguredService } from '../services/services.ts';
import type { Environment } from './environment.ts';
import { StateFileError, type StateStore } from './state-file.ts';

/** The time limit for an operation on the file, in milliseconds, because a disk may never respond. */
const DISK_WAIT_MS = 10_000;

/** The shortest time between two saves after polls, in milliseconds: a little less than a minute, the usual interval of polls. */
const AFTER_POLL_MS = 55_000;

/** The state is saved this long after the last save, in milliseconds: so late that a poll each minute saves it first. */
const INTERVAL_MS = 75_000;

/** What the file is: the number changes with its format. */
const KIND = 'filer-exporter state 1';

/** By API, a value that distinguishes the state of this exporter from the state of others. APIs that are not polled are missing. */
type Owners = Readonly<Record<string, string>>;

/** The content of the file. */
interface Document {
  readonly kind: string;
  readonly owners: Owners;
  /** When it was written: by the wall clock in epoch milliseconds, and by the monotonic clock of the process that wrote it. */
  readonly at: number;
  readonly up: number;
  /** What each part has saved, by its name. */
  readonly parts: Readonly<Record<string, unknown>>;
}

/** Saves the state and restores it after a restart. A failure is logged, and never stops or delays the process. */
export class StateKeeper {
  readonly #store: StateStore;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #owners: Owners;
  /** Undefined until the state was restored: before, nothing is saved. */
  #parts: readonly SavedPart[] | undefined;
  #errors = 0;
  #isFailing = false;
  /** The hash of what the parts had saved when the file was written last. */
  #writtenHash = '';
  /** The last save of any kind, and the last after a poll, in monotonic milliseconds. */
  #savedAt = Number.NEGATIVE_INFINITY;
  #savedSoonAt = Number.NEGATIVE_INFINITY;
  /** Ends when every save that has begun has ended. */
  #saving: Promise<void> = Promise.resolve();

  constructor(store: StateStore, clock: Clock, log: Log, owners: Owners = {}) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#owners = owners;
  }

  /** Failed operations on the file; never decreases. */
  get errors(): number {
    return this.#errors;
  }

  /**
   * Restores `parts`, and saves them from then on. A file that cannot be used is set aside; a part that cannot be
   * restored starts anew. Never rejects.
   */
  async load(parts: readonly SavedPart[]): Promise<void> {
    try {
      const content = await this.#withTimeLimit('reading', this.#store.read());
      if (content !== undefined) this.#restore(content, parts);
    } catch (error) {
      this.#errors += 1;
      await this.#setAside(stateError(error));
    }
    this.#parts = parts;
    // The first save shows at the start whether the file can be written. A disk that hangs does not delay the polls.
    void this.save();
  }

  /** Resolves when what was counted before the call is on the disk, or could not be saved. Never rejects. */
  async save(): Promise<void> {
    this.#saving = this.#saving.then(() => this.#write()).catch((error: unknown) => this.#recordFailure(error));
    await this.#withTimeLimit('saving', this.#saving).catch((error: unknown) => this.#recordFailure(error));
  }

  /** See `SaveSoon`. */
  readonly saveSoon = (): void => {
    const now = this.#clock.monotonic();
    if (now - this.#savedSoonAt < AFTER_POLL_MS) return;
    this.#savedSoonAt = now;
    void this.save();
  };

  /** Saves regularly until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const sinceMs = this.#clock.monotonic() - this.#savedAt;
      if (sinceMs >= INTERVAL_MS) await this.save();
      else await this.#clock.sleep(INTERVAL_MS - sinceMs, signal);
    }
  }

  async #write(): Promise<void> {
    const parts = this.#parts;
    if (parts === undefined) return;
    this.#savedAt = this.#clock.monotonic();
    const texts: string[] = [];
    for (const part of parts) texts.push(`${JSON.stringify(part.name)}:${await jsonOf(part.save())}`);
    const text = `{${texts.join(',\n')}}`;
    const hash = createHash('sha256').update(text).digest('base64');
    if (hash === this.#writtenHash) return;
    const heading: Omit<Document, 'parts'> = {
      kind: KIND,
      owners: this.#owners,
      at: this.#clock.now(),
      up: this.#clock.monotonic(),
    };
    await this.#store.replace(`${JSON.stringify(heading).slice(0, -1)},"parts":${text}}\n`);
    this.#writtenHash = hash;
    if (this.#isFailing) this.#log.info('The state file was written again.');
    this.#isFailing = false;
  }

  #restore(content: string, parts: readonly SavedPart[]): void {
    const document = readDocument(content, this.#owners);
    // The wall clock may have been set back.
    const elapsedMs = Math.max(0, this.#clock.now() - document.at);
    const shiftMs = this.#clock.monotonic() - elapsedMs - document.up;
    const faults: string[] = [];
    for (const part of parts) {
      const saved = document.parts[part.name];
      if (saved === undefined) continue;
      try {
        part.restore(saved, shiftMs);
      } catch (error) {
        faults.push(`${part.name}: ${asError(error).message}`);
      }
    }
    if (faults.length > 0) throw new StateFileError(`restoring the state: ${faults.join('; ')}`);
    this.#log.info({ secondsAgo: Math.round(elapsedMs / 1000) }, 'The state file was read.');
  }

  async #setAside(err: Error): Promise<void> {
    try {
      const file = await this.#withTimeLimit('setting aside', this.#store.setAside());
      this.#log.warn({ err, file }, 'The state file could not be used. It was set aside, and a new one begins.');
    } catch (failure) {
      this.#log.warn({ err, failure: asError(failure).message }, 'The state file could not be used or set aside.');
    }
  }

  #recordFailure(error: unknown): void {
    this.#errors += 1;
    if (!this.#isFailing) {
      const advice = 'make the folder of STATE_FILE writable for the user of the exporter';
      this.#log.warn({ err: stateError(error), advice }, 'The state file could not be written.');
    }
    this.#isFailing = true;
  }

  #withTimeLimit<Result>(operation: string, work: Promise<Result>): Promise<Result> {
    const timeoutError = () =>
      new StateFileError(
        `${operation} the state file took longer than ${DISK_WAIT_MS / 1000} s: the disk did not respond`,
      );
    return withTimeout(work, this.#clock, DISK_WAIT_MS, timeoutError);
  }
}

/** The messages of system errors name operation and path, so their stack says nothing more. */
function stateError(error: unknown): Error {
  return error instanceof StateFileError ? error : new StateFileError(asError(error).message, { cause: error });
}

function readDocument(content: string, own: Owners): Document {
  const document: Partial<Document> | null = JSON.parse(content);
  const { kind, owners, at, up, parts } = document ?? {};
  if (kind !== KIND || at === undefined || up === undefined || parts === undefined) {
    throw new StateFileError(`reading the state: it is not of the kind “${KIND}”`);
  }
  const isForeign = ([api, owner]: [string, string]) => (owners?.[api] ?? owner) !== owner;
  if (Object.entries(own).some(isForeign)) {
    throw new StateFileError('reading the state: it belongs to another client key or another service');
  }
  return { kind, owners: own, at, up, parts };
}

/** The JSON of what a part has saved, a field at a time: the state of a large account has 20 MB. */
async function jsonOf(saved: unknown): Promise<string> {
  if (!isJsonObject(saved)) return JSON.stringify(saved ?? null);
  const fields: string[] = [];
  for (const [name, value] of Object.entries(saved)) {
    await nextTurn();
    if (value !== undefined) fields.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`);
  }
  return `{${fields.join(',')}}`;
}

export function createStateKeeper(
  services: readonly ConfiguredService[],
  { stateFile }: Config,
  { openState, clock, log }: Environment,
): StateKeeper | undefined {
  const store = stateFile === undefined ? undefined : openState?.(stateFile);
  // Whom the state of each service belongs to, without a secret.
  const owners = services.map(({ api, service, settings }) => {
    const owner = JSON.stringify(service.stateOwner(settings));
    return [api, createHash('sha256').update(owner).digest('hex')] as const;
  });
  return store && new StateKeeper(store, clock, log, Object.fromEntries(owners));
}

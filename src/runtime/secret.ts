import { inspect } from 'node:util';

/** What stands in for a secret wherever a text is made for people or machines. */
export const REDACTED = '[redacted]';

/**
 * A value that must never be printed. Turning it into text, JSON or an inspection gives `[redacted]`; only
 * {@link Secret.reveal} gives the value, and only the code that writes request headers and bodies calls it.
 */
export class Secret {
  readonly #readAgain: () => string | Promise<string>;
  #value: string;

  /** `read` gives the value now, `readAgain` anew, for instance from its file; both may throw. */
  constructor(read: () => string, readAgain: () => string | Promise<string> = read) {
    this.#readAgain = readAgain;
    this.#value = read();
  }

  /** A secret that never changes, as one given in an environment variable. */
  static of(value: string): Secret {
    return new Secret(() => value);
  }

  /** The value itself. */
  reveal(): string {
    return this.#value;
  }

  /**
   * Reads the value again, after a 401: a rotated secret needs no restart. True when it has changed. A file that
   * cannot be read just now leaves the old value in place: a rotation replaces files in more than one step. Never rejects.
   */
  async reload(): Promise<boolean> {
    let value: string;
    try {
      value = await this.#readAgain();
    } catch {
      return false;
    }
    const changed = value !== this.#value;
    this.#value = value;
    return changed;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [inspect.custom](): string {
    return REDACTED;
  }
}

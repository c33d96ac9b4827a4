import { inspect } from 'node:util';

/** Replaces a secret in every text. */
export const REDACTED = '[redacted]';

/**
 * A value that must never be printed. Conversion to text, JSON or an inspection gives `[redacted]`; only {@link
 * Secret.reveal} returns the value, and only code that writes requests or opens connections calls it.
 */
export class Secret {
  readonly #readAgain: () => string | Promise<string>;
  #value: string;

  /** `read` returns the current value and `readAgain` reads it anew, for example from its file; both may throw. */
  constructor(read: () => string, readAgain: () => string | Promise<string> = read) {
    this.#readAgain = readAgain;
    this.#value = read();
  }

  /** A secret that never changes, such as one from an environment variable. */
  static of(value: string): Secret {
    return new Secret(() => value);
  }

  reveal(): string {
    return this.#value;
  }

  /**
   * Reads the value again, after a 401: a rotated secret needs no restart. Returns true if it changed. Keeps the
   * previous value while the file cannot be read: a rotation replaces files in more than one step. Never rejects.
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

import { inspect } from 'node:util';

/** Replaces a secret in every text. */
export const REDACTED = '[redacted]';

const MAX_EARLIER = 10;

/**
 * A value that must never be printed. Conversion to text, JSON or an inspection gives `[redacted]`; only {@link
 * Secret.reveal} returns the value, and only code that writes requests, opens connections or hides secrets calls it.
 */
export class Secret {
  readonly #readAgain: () => string | Promise<string>;
  #value: string;
  /** Replaced by rotations: a service may still echo them. */
  #earlier: readonly string[] = [];

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

  /** The value and those before it, for hiding them in texts. */
  get everyValue(): readonly string[] {
    return [this.#value, ...this.#earlier];
  }

  /**
   * After a 401. Returns true if the value changed. Keeps the previous one while the file cannot be read: a rotation
   * replaces files in more than one step. Never rejects.
   */
  async reload(): Promise<boolean> {
    let value: string;
    try {
      value = await this.#readAgain();
    } catch {
      return false;
    }
    if (value === this.#value) return false;
    this.#earlier = this.everyValue.slice(0, MAX_EARLIER);
    this.#value = value;
    return true;
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

import { inspect } from 'node:util';

/** Replaces a secret in every text. */
export const REDACTED = '[redacted]';

const MAX_EARLIER = 10;

/**
 * A value that must never be printed. Converting it to a string or JSON or inspecting it returns `[redacted]`. Only `reveal`
 * returns the value, and only code that writes requests, opens connections or hides secrets calls it.
 */
export class Secret {
  readonly #reread: () => Promise<string>;
  #value: string;
  /** Values that were replaced, which a service may still echo. */
  #earlier: readonly string[] = [];

  /** `reread` reads the current value, for example from its file, and may reject; by default the value never changes. */
  constructor(value: string, reread = async () => value) {
    this.#value = value;
    this.#reread = reread;
  }

  reveal(): string {
    return this.#value;
  }

  /** The present value and earlier values, for hiding them in texts. */
  get everyValue(): readonly string[] {
    return [this.#value, ...this.#earlier];
  }

  /**
   * Reads the value again after a 401, and resolves with true if it has changed. While the file cannot be read, the
   * previous value stays, because a rotation replaces files in more than one step. It never rejects.
   */
  async reload(): Promise<boolean> {
    let value: string;
    try {
      value = await this.#reread();
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

import {
  BACKSLASH,
  COLON,
  COMMA,
  LIST,
  LIST_END,
  MAX_DEPTH,
  OBJECT,
  OBJECT_END,
  QUOTE,
  STEP_BYTES,
} from './memory-estimate.ts';

/** Elements parsed together: tenths of a millisecond, or some milliseconds if every object has its own keys. */
const BATCH_BYTES = 32 * 1024;

/** A larger list or object is opened and its elements are parsed. */
const WHOLE_BYTES = 32 * 1024;

const BLANK = /^[ \n\r\t]*$/;

/**
 * Parses a JSON document in UTF-8 as `JSON.parse` does, and throws where `JSON.parse` throws. A generator that yields
 * wherever it may be interrupted: a document of a hundred megabytes takes a second.
 *
 * The code here finds only commas and brackets and leaves everything between them to `JSON.parse`, so it accepts
 * nothing that `JSON.parse` rejects.
 */
export function* parseInSlices(bytes: Buffer): Generator<void, unknown> {
  return yield* new Reader(bytes).document();
}

class Reader {
  readonly #bytes: Buffer;
  /** A byte order mark at the beginning is skipped by hand: the decoder would skip one before every piece. */
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  *document(): Generator<void, unknown> {
    if (this.#bytes[0] === 0xef && this.#bytes[1] === 0xbb && this.#bytes[2] === 0xbf) this.#at = 3;
    this.#skipBlank();
    if (!this.#opens(this.#at)) return JSON.parse(this.#text(this.#at, this.#bytes.length));
    const value = yield* this.#container(0);
    this.#skipBlank();
    if (this.#at !== this.#bytes.length) throw new SyntaxError('unexpected text after the document');
    return value;
  }

  *#container(depth: number): Generator<void, unknown> {
    const target = new Container(this.#bytes[this.#at] === LIST);
    this.#at += 1;
    let start = this.#at;
    for (;;) {
      const element = this.#at;
      const inner = yield* this.#endOfElement(depth, target);
      if (inner !== undefined) {
        if (element > start) target.take(this.#text(start, element - 1));
        const key = target.isList ? '' : this.#key(element);
        this.#at = inner;
        target.put(key, yield* this.#container(depth + 1));
        this.#skipBlank();
        start = this.#at + 1;
      } else if (this.#bytes[this.#at] !== COMMA || this.#at - start >= BATCH_BYTES) {
        const text = this.#text(start, this.#at);
        // An empty list or object; an empty element between commas is an error, which JSON.parse reports.
        const isEmpty = this.#bytes[this.#at] !== COMMA && target.isNew && BLANK.test(text);
        if (!isEmpty) target.take(text);
        start = this.#at + 1;
        yield;
      }
      const end = this.#bytes[this.#at];
      this.#at += 1;
      if (end === (target.isList ? LIST_END : OBJECT_END)) return target.value;
      if (end !== COMMA) throw new SyntaxError('an element without an end');
    }
  }

  /** Moves behind the element that begins here, or returns where it begins if it is a large list or object to open. */
  *#endOfElement(depth: number, { isList }: Container): Generator<void, number | undefined> {
    const bytes = this.#bytes;
    const begin = this.#at;
    let limit = depth + 1 < MAX_DEPTH ? begin + WHOLE_BYTES : Number.POSITIVE_INFINITY;
    let step = begin + STEP_BYTES;
    let nested = 0;
    let at = begin;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte === QUOTE) at = this.#endOfString(at);
      else if (byte === LIST || byte === OBJECT) nested += 1;
      else if (byte === LIST_END || byte === OBJECT_END) {
        if (nested === 0) break;
        nested -= 1;
      } else if (byte === COMMA && nested === 0) break;
      if (at >= limit) {
        const inner = this.#valueOf(begin, isList);
        if (this.#opens(inner)) return inner;
        limit = Number.POSITIVE_INFINITY;
      }
      if (at >= step) {
        step = at + STEP_BYTES;
        yield;
      }
    }
    this.#at = at;
    return undefined;
  }

  #endOfString(begin: number): number {
    const bytes = this.#bytes;
    let at = begin + 1;
    for (let byte = bytes[at]; byte !== QUOTE && byte !== undefined; byte = bytes[at]) at += byte === BACKSLASH ? 2 : 1;
    return at;
  }

  /** The position of the element's value: after its key, in an object. */
  #valueOf(element: number, isList: boolean): number {
    const begin = this.#blankUpTo(element);
    if (isList) return begin;
    if (this.#bytes[begin] !== QUOTE) return this.#bytes.length;
    const colon = this.#blankUpTo(this.#endOfString(begin) + 1);
    return this.#bytes[colon] === COLON ? this.#blankUpTo(colon + 1) : this.#bytes.length;
  }

  #key(element: number): string {
    const begin = this.#blankUpTo(element);
    return String(JSON.parse(this.#text(begin, this.#endOfString(begin) + 1)));
  }

  #opens(at: number): boolean {
    return this.#bytes[at] === LIST || this.#bytes[at] === OBJECT;
  }

  #skipBlank(): void {
    this.#at = this.#blankUpTo(this.#at);
  }

  #blankUpTo(from: number): number {
    let at = from;
    for (let byte = this.#bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; ) {
      at += 1;
      byte = this.#bytes[at];
    }
    return at;
  }

  #text(from: number, to: number): string {
    return this.#decoder.decode(this.#bytes.subarray(from, to));
  }
}

class Container {
  readonly isList: boolean;
  readonly #list: unknown[] = [];
  readonly #object: Record<string, unknown> = {};
  isNew = true;

  constructor(isList: boolean) {
    this.isList = isList;
  }

  get value(): unknown {
    return this.isList ? this.#list : this.#object;
  }

  take(text: string): void {
    this.isNew = true;
    if (this.isList) for (const element of JSON.parse(`[${text}]`) as unknown[]) this.put('', element);
    else for (const [key, value] of Object.entries(JSON.parse(`{${text}}`) as object)) this.put(key, value);
    if (this.isNew) throw new SyntaxError('a comma without an element');
  }

  put(key: string, value: unknown): void {
    this.isNew = false;
    if (this.isList) this.#list.push(value);
    // Defined and not assigned, as JSON.parse does: `__proto__` is a key like any other.
    else if (key === '__proto__') {
      Object.defineProperty(this.#object, key, { value, writable: true, enumerable: true, configurable: true });
    } else this.#object[key] = value;
  }
}

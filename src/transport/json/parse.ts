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

/** So many bytes are parsed together: in tenths of a millisecond, or some milliseconds if every object has other keys. */
const BATCH_BYTES = 32 * 1024;

/** The elements of a larger list or object are parsed one after another. */
const WHOLE_BYTES = 32 * 1024;

const BLANK = /^[ \n\r\t]*$/;

/**
 * Parses a JSON document in UTF-8 as `JSON.parse` does, and throws where `JSON.parse` throws. The generator yields
 * wherever it may be interrupted, because a document of a hundred megabytes takes a second.
 *
 * This code finds only commas and brackets and leaves everything between them to `JSON.parse`, so it accepts nothing that
 * `JSON.parse` rejects.
 */
export function* parseInSlices(bytes: Buffer): Generator<void, unknown> {
  return yield* new Reader(bytes).document();
}

class Reader {
  readonly #bytes: Buffer;
  /** `document` skips a byte order mark: with ignoreBOM false, the decoder would skip one at the start of every piece. */
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #position = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  *document(): Generator<void, unknown> {
    if (this.#bytes[0] === 0xef && this.#bytes[1] === 0xbb && this.#bytes[2] === 0xbf) this.#position = 3;
    this.#skipBlank();
    if (!this.#opens(this.#position)) return JSON.parse(this.#text(this.#position, this.#bytes.length));
    const value = yield* this.#container(0);
    this.#skipBlank();
    if (this.#position !== this.#bytes.length) throw new SyntaxError('expected the end of the document, got more text');
    return value;
  }

  *#container(depth: number): Generator<void, unknown> {
    const container = new Container(this.#bytes[this.#position] === LIST);
    this.#position += 1;
    let start = this.#position;
    for (;;) {
      const element = this.#position;
      const inner = yield* this.#endOfElement(depth, container);
      if (inner !== undefined) {
        if (element > start) container.addAll(this.#text(start, element - 1));
        const key = container.isList ? '' : this.#key(element);
        this.#position = inner;
        container.add(key, yield* this.#container(depth + 1));
        this.#skipBlank();
        start = this.#position + 1;
      } else if (this.#bytes[this.#position] !== COMMA || this.#position - start >= BATCH_BYTES) {
        const text = this.#text(start, this.#position);
        // Nothing but blanks is an empty list or object; between commas it is an error, which JSON.parse reports.
        const isEmpty = this.#bytes[this.#position] !== COMMA && container.isElementMissing && BLANK.test(text);
        if (!isEmpty) container.addAll(text);
        start = this.#position + 1;
        yield;
      }
      const end = this.#bytes[this.#position];
      this.#position += 1;
      if (end === (container.isList ? LIST_END : OBJECT_END)) return container.value;
      if (end !== COMMA) throw new SyntaxError('expected a comma or a closing bracket after an element');
    }
  }

  /**
   * Moves the position to the end of the element that begins there. If its value is a large list or object, the position
   * stays, and the result is where that value begins.
   */
  *#endOfElement(depth: number, { isList }: Container): Generator<void, number | undefined> {
    const bytes = this.#bytes;
    const begin = this.#position;
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
    this.#position = at;
    return undefined;
  }

  #endOfString(begin: number): number {
    const bytes = this.#bytes;
    let at = begin + 1;
    for (let byte = bytes[at]; byte !== QUOTE && byte !== undefined; byte = bytes[at]) at += byte === BACKSLASH ? 2 : 1;
    return at;
  }

  /** Returns where the value of the element begins: in an object, after the key. */
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

  #opens(position: number): boolean {
    return this.#bytes[position] === LIST || this.#bytes[position] === OBJECT;
  }

  #skipBlank(): void {
    this.#position = this.#blankUpTo(this.#position);
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
  isElementMissing = true;

  constructor(isList: boolean) {
    this.isList = isList;
  }

  get value(): unknown {
    return this.isList ? this.#list : this.#object;
  }

  addAll(text: string): void {
    this.isElementMissing = true;
    if (this.isList) for (const element of JSON.parse(`[${text}]`) as unknown[]) this.add('', element);
    else for (const [key, value] of Object.entries(JSON.parse(`{${text}}`) as object)) this.add(key, value);
    if (this.isElementMissing) throw new SyntaxError('expected an element after a comma');
  }

  add(key: string, value: unknown): void {
    this.isElementMissing = false;
    if (this.isList) this.#list.push(value);
    // `__proto__` is defined, because assigning it would change what the object inherits; for JSON.parse it is an ordinary key.
    else if (key === '__proto__') {
      Object.defineProperty(this.#object, key, { value, writable: true, enumerable: true, configurable: true });
    } else this.#object[key] = value;
  }
}

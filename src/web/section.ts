import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { near, nearest } from '../runtime/suggest.ts';

export interface Placed {
  readonly text: string;
  readonly line: number;
}

/** A file during parsing. Its faults are one line each and quote no value. */
export class YamlFile {
  readonly #faults = new Set<string>();
  readonly #document: ReturnType<typeof parseDocument>;
  readonly #lines = new LineCounter();

  constructor(text: string) {
    // Pretty errors would show the text around them, which may be a key.
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, merge: false });
    for (const { code, pos } of this.#document.errors) {
      this.complain(this.#lines.linePos(pos[0]).line, NOT_YAML[code] ?? `is not YAML (${code})`);
    }
  }

  get faults(): readonly string[] {
    return [...this.#faults];
  }

  top(): YamlSection {
    return new YamlSection(this, this.#document.contents, '');
  }

  /** A missing mapping has no pairs, and an empty one is a fault: a truncated file looks like that. */
  pairs(node: unknown, place: string): readonly { readonly key: unknown; readonly value: unknown }[] {
    const map = this.#resolved(node);
    if (isMap(map)) return map.items;
    const name = place === '' ? 'the file' : place;
    if (map !== undefined) this.#refuse(map, name, ' contains no keys; expected key: value lines');
    else if (node !== undefined) this.complain(this.lineOf(node), `${name} is empty; write {} for an empty section`);
    return [];
  }

  /** A key's text; undefined, with a fault, if it is not text: everything below it would be ignored without notice. */
  key(node: unknown): Placed | undefined {
    const key = this.#resolved(node);
    if (key === undefined) {
      this.complain(this.lineOf(node), 'a key is empty; expected a name, with quotes around ~ or null');
    }
    // In quotes it is normal text.
    const isMergeKey = isScalar(node) && node.type === 'PLAIN' && node.source === '<<';
    if (!isMergeKey) return this.text(key, 'a key');
    this.complain(this.lineOf(node), 'a merge key (<<) is not supported; expected the keys themselves');
    return undefined;
  }

  /** A scalar's text as it is written; undefined, with a fault, for any other node. `empty`: the fault of an empty one. */
  text(node: unknown, place: string, empty = 'has no value; set one or remove the key'): Placed | undefined {
    const scalar = this.#resolved(node);
    if (isScalar(scalar)) {
      const text = typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? String(scalar.value));
      return { text, line: this.lineOf(scalar) };
    }
    if (scalar !== undefined) this.#refuse(scalar, place, ' is not a single value');
    else if (node !== undefined) this.complain(this.lineOf(node), `${place}: ${empty}`);
    return undefined;
  }

  texts(node: unknown, place: string): readonly Placed[] | undefined {
    const list = this.#resolved(node);
    if (isSeq(list)) {
      return list.items.flatMap((item) => this.text(item, place, 'an item is empty; expected a value') ?? []);
    }
    // The fault of an empty node is the same for a text.
    if (list === undefined) this.text(node, place);
    else this.#refuse(list, place, ' is not a list; expected lines that begin with -');
    return undefined;
  }

  /** Counted from one; 1 if unknown. */
  lineOf(node: unknown): number {
    const offset = isNode(node) ? node.range?.[0] : undefined;
    return offset === undefined ? 1 : this.#lines.linePos(offset).line;
  }

  complain(line: number, what: string): void {
    this.#faults.add(`line ${line}: ${what}`);
  }

  #refuse(node: object, place: string, flaw: string): void {
    const lost = ': the alias has no anchor above it; expected one, or quotes around a text that begins with *';
    this.complain(this.lineOf(node), `${place}${isAlias(node) ? lost : flaw}`);
  }

  /** The target of an alias, or the alias itself, which is never valid; undefined for nothing and null. */
  #resolved(node: unknown): object | undefined {
    const real = isAlias(node) ? (node.resolve(this.#document) ?? node) : node;
    if (real === null || real === undefined || (isScalar(real) && real.value === null)) return undefined;
    return real as object;
  }
}

/** One mapping of the file, whose keys are read one by one. */
export class YamlSection {
  readonly #file: YamlFile;
  readonly #place: string;
  readonly #nodes = new Map<string, { readonly value: unknown; readonly line: number }>();
  readonly #known = new Set<string>();

  constructor(file: YamlFile, node: unknown, place: string) {
    this.#file = file;
    this.#place = place;
    for (const { key, value } of file.pairs(node, place)) {
      const name = file.key(key);
      if (name === undefined) continue;
      // In YAML, 42 and "42" are two keys.
      if (this.#nodes.has(name.text)) file.complain(name.line, TWICE);
      this.#nodes.set(name.text, { value, line: name.line });
    }
  }

  /** Undefined if it is missing or empty. */
  text(key: string): Placed | undefined {
    const placed = this.#file.text(this.#take(key), this.#nameOf(key));
    return placed?.text === '' ? undefined : placed;
  }

  /** In the words of YAML 1.1, as Go's parser accepts them. */
  truth(key: string): boolean | undefined {
    const placed = this.text(key);
    const truth = placed && TRUTHS.get(placed.text);
    if (placed !== undefined && truth === undefined) {
      this.complain(placed.line, 'expected true or false', key);
    }
    return truth;
  }

  word<Meaning>(key: string, words: Readonly<Record<string, Meaning>>): Meaning | undefined {
    const placed = this.text(key);
    return placed && this.#meaning(key, placed, words);
  }

  words<Meaning>(key: string, words: Readonly<Record<string, Meaning>>): readonly Meaning[] | undefined {
    return this.texts(key)?.flatMap((placed) => this.#meaning(key, placed, words) ?? []);
  }

  texts(key: string): readonly Placed[] | undefined {
    return this.#file.texts(this.#take(key), this.#nameOf(key));
  }

  section(key: string): YamlSection {
    return new YamlSection(this.#file, this.#take(key), this.#nameOf(key));
  }

  /** Every key with its text, for sections with keys that the operator chooses. */
  entries(): readonly (readonly [key: string, value: Placed])[] {
    return [...this.#nodes].map(
      ([key, { value, line }]) => [key, this.#file.text(value, this.#nameOf(key)) ?? { text: '', line }] as const,
    );
  }

  /** About a key, or about the whole section. */
  complain(line: number, what: string, key?: string): void {
    this.#file.complain(line, `${key === undefined ? this.#place : this.#nameOf(key)}: ${what}`);
  }

  /** A key with the names of the sections around it. */
  #nameOf(key: string): string {
    // An unknown key that does not look like words may be a secret in the wrong place, or break the line.
    const isWords = key.length < 30 && /^[A-Z]?[a-z]+(?:[_-][A-Z]?[a-z]+)*$/.test(key);
    const shown = isWords || this.#known.has(key) ? key : 'a key';
    return this.#place === '' ? shown : `${this.#place}.${shown}`;
  }

  /** Adds a fault for every key that was not read. */
  end(): void {
    for (const [key, { line }] of this.#nodes) {
      if (this.#known.has(key)) continue;
      const known = [...this.#known];
      const meant = near(key, known);
      const hint = meant === undefined ? `expected ${known.join(', ')}` : `did you mean ${meant}?`;
      this.complain(line, `unknown key; ${hint}`, key);
    }
  }

  #take(key: string): unknown {
    this.#known.add(key);
    return this.#nodes.get(key)?.value;
  }

  #meaning<Meaning>(key: string, { text, line }: Placed, words: Readonly<Record<string, Meaning>>) {
    if (Object.hasOwn(words, text)) return words[text];
    const known = Object.keys(words);
    const shown = /^\w{1,60}$/.test(text) ? text : 'the value';
    const expected = known.length > 6 ? `did you mean ${nearest(text, known)}?` : `expected ${known.join(', ')}`;
    this.complain(line, `${shown} is not known; ${expected}`, key);
    return undefined;
  }
}

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
]);

const TWICE = 'a key is repeated';

/** The most common mistakes, in words. */
const NOT_YAML: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: TWICE,
  TAB_AS_INDENT: 'a tab indents the line; expected spaces',
  BAD_INDENT: 'the line is indented unlike the lines around it',
  MULTIPLE_DOCS: 'a second document begins; expected one',
};

import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { editDistance, nearest } from '../runtime/suggest.ts';

/** A text of the file, and the line it is on. */
export interface Placed {
  readonly text: string;
  readonly line: number;
}

/** One file while it is read: collects what is wrong with it, each a line for the operator that quotes no value. */
export class YamlFile {
  readonly #faults = new Set<string>();
  readonly #document: ReturnType<typeof parseDocument>;
  readonly #lines = new LineCounter();

  constructor(text: string) {
    // Pretty errors show the text around them, which may be a key.
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, merge: false });
    for (const { code, pos } of this.#document.errors) {
      this.complain(this.#lines.linePos(pos[0]).line, NOT_YAML[code] ?? `is not YAML (${code})`);
    }
  }

  /** What is wrong so far, each said once. */
  get faults(): readonly string[] {
    return [...this.#faults];
  }

  /** The whole file as one section. */
  top(): YamlSection {
    return this.section(this.#document.contents, '');
  }

  /** A node as a section; one that is missing has no keys, and one that is empty is a fault: a file cut off looks so. */
  section(node: unknown, place: string): YamlSection {
    const map = this.#resolved(node);
    if (map === undefined) {
      if (node !== undefined) {
        this.complain(
          this.lineOf(node),
          `${place === '' ? 'the file' : place} is empty; expected {} where it is to be`,
        );
      }
      return new YamlSection(this, [], place);
    }
    if (isMap(map)) return new YamlSection(this, map.items, place);
    this.#refuse(map, place === '' ? 'the file' : place, ' holds no keys; expected key: value lines');
    return new YamlSection(this, [], place);
  }

  /** A key's text; undefined, with a fault, for what is none: all that stands below it would be lost unnoticed. */
  key(node: unknown): Placed | undefined {
    const key = this.#resolved(node);
    if (key === undefined) {
      this.complain(this.lineOf(node), 'a key is empty; expected a name, in quotes where it is ~ or null');
    }
    if (!isMergeKey(node)) return this.text(key, 'a key');
    this.complain(this.lineOf(node), 'a merge key (<<) is not understood here; expected the keys themselves');
    return undefined;
  }

  /** A scalar's text as it is written; undefined, with a fault, for anything else that is there. */
  text(node: unknown, place: string): Placed | undefined {
    const scalar = this.#resolved(node);
    if (scalar === undefined) return this.#missing(node, place);
    if (isScalar(scalar)) {
      const text = typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? String(scalar.value));
      return { text, line: this.lineOf(scalar) };
    }
    this.#refuse(scalar, place, ' is not a single value');
    return undefined;
  }

  /** The texts of a list; undefined where there is none. */
  texts(node: unknown, place: string): readonly Placed[] | undefined {
    const list = this.#resolved(node);
    if (list === undefined) return this.#missing(node, place);
    if (isSeq(list)) return list.items.flatMap((item) => this.#item(item, place) ?? []);
    this.#refuse(list, place, ' is not a list; expected lines that begin with -');
    return undefined;
  }

  /** The line of a node, counted from one; 1 where it is not known. */
  lineOf(node: unknown): number {
    const offset =
      typeof node === 'object' && node !== null && 'range' in node ? (node.range as number[] | null) : null;
    return offset?.[0] === undefined ? 1 : this.#lines.linePos(offset[0]).line;
  }

  /** Notes something wrong. */
  complain(line: number, what: string): void {
    this.#faults.add(`line ${line}: ${what}`);
  }

  #item(node: unknown, place: string): Placed | undefined {
    const item = this.#resolved(node);
    if (item !== undefined) return this.text(item, place);
    this.complain(this.lineOf(node), `${place}: an item is empty; expected a value`);
    return undefined;
  }

  /** Complains about a key without a value. */
  #missing(node: unknown, place: string): undefined {
    if (node !== undefined) this.complain(this.lineOf(node), `${place}: has no value; expected one, or no such key`);
  }

  /** Complains about a node that is not what belongs in its place. */
  #refuse(node: object, place: string, flaw: string): void {
    const lost = ': the alias has no anchor above it; expected one, or quotes around a text that begins with *';
    this.complain(this.lineOf(node), `${place}${isAlias(node) ? lost : flaw}`);
  }

  /** What an alias stands for, or the alias itself, which is nothing that is expected; undefined for nothing and null. */
  #resolved(node: unknown): object | undefined {
    const real = isAlias(node) ? (node.resolve(this.#document) ?? node) : node;
    if (real === null || real === undefined || (isScalar(real) && real.value === null)) return undefined;
    return real as object;
  }
}

/** In quotes it is a text like others. */
function isMergeKey(node: unknown): boolean {
  return isScalar(node) && node.type === 'PLAIN' && node.source === '<<';
}

/** One mapping of the file. Its keys are taken one by one; {@link YamlSection.end} complains about what nobody took. */
export class YamlSection {
  readonly #file: YamlFile;
  readonly #place: string;
  readonly #nodes = new Map<string, { readonly value: unknown; readonly line: number }>();
  readonly #known = new Set<string>();
  /** Keys that are the operator's to choose. */
  readonly #own = new Set<string>();

  constructor(file: YamlFile, pairs: readonly { readonly key: unknown; readonly value: unknown }[], place: string) {
    this.#file = file;
    this.#place = place;
    for (const { key, value } of pairs) {
      const name = file.key(key);
      if (name === undefined) continue;
      // For YAML 42 and "42" are two keys.
      if (this.#nodes.has(name.text)) file.complain(name.line, TWICE);
      this.#nodes.set(name.text, { value, line: name.line });
    }
  }

  /** The text of a key; undefined where the file does not have it, or has it empty. */
  text(key: string): Placed | undefined {
    const placed = this.#file.text(this.#take(key), this.nameOf(key));
    return placed?.text === '' ? undefined : placed;
  }

  /** A key that is true or false, in the words of YAML 1.1, as Go's reader takes them. */
  truth(key: string): boolean | undefined {
    const placed = this.text(key);
    const truth = placed && TRUTHS.get(placed.text);
    if (placed !== undefined && truth === undefined) {
      this.#file.complain(placed.line, `${this.nameOf(key)}: expected true or false`);
    }
    return truth;
  }

  /** What a key's word stands for, out of a few. */
  word<Meaning>(key: string, words: Readonly<Record<string, Meaning>>): Meaning | undefined {
    const placed = this.text(key);
    return placed && this.#meaning(key, placed, words);
  }

  /** What the words of a key's list stand for. */
  words<Meaning>(key: string, words: Readonly<Record<string, Meaning>>): readonly Meaning[] | undefined {
    return this.texts(key)?.flatMap((placed) => this.#meaning(key, placed, words) ?? []);
  }

  /** The texts of a key's list. */
  texts(key: string): readonly Placed[] | undefined {
    return this.#file.texts(this.#take(key), this.nameOf(key));
  }

  /** The section below a key. */
  section(key: string): YamlSection {
    return this.#file.section(this.#take(key), this.nameOf(key));
  }

  /** Every key with its text, for sections whose keys are the operator's own. */
  entries(): readonly (readonly [key: string, value: Placed])[] {
    return [...this.#nodes].map(([key, { value, line }]) => {
      this.#own.add(key);
      return [key, this.#file.text(value, this.nameOf(key)) ?? { text: '', line }] as const;
    });
  }

  /** A key with the names of the sections around it. */
  nameOf(key: string): string {
    // A name that nobody knows and that is no words may be a secret in the wrong place, or break the line.
    const isWords = key.length < 30 && /^[A-Z]?[a-z]+(?:[_-][A-Z]?[a-z]+)*$/.test(key);
    const shown = isWords || this.#known.has(key) ? key : 'a key';
    return this.#place === '' ? shown : `${this.#place}.${shown}`;
  }

  /** Complains about every key that was not asked for. */
  end(): void {
    for (const [key, { line }] of this.#nodes) {
      if (this.#known.has(key) || this.#own.has(key)) continue;
      const known = [...this.#known];
      const meant = nearest(key, known) ?? '';
      const isSlip = editDistance(key, meant) <= LONGEST_SLIP;
      const hint = isSlip ? `did you mean ${meant}?` : `expected ${known.join(', ')}`;
      this.#file.complain(line, `${this.nameOf(key)}: unknown key; ${hint}`);
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
    this.#file.complain(line, `${this.nameOf(key)}: ${shown} is not known; ${expected}`);
    return undefined;
  }
}

/** A key that differs in more letters than this is not a misspelt one. */
const LONGEST_SLIP = 4;

const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
]);

const TWICE = 'a key is there twice';

/** The commonest slips in words. */
const NOT_YAML: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: TWICE,
  TAB_AS_INDENT: 'a tab indents the line; expected blanks',
  BAD_INDENT: 'the line is not indented as those around it',
  MULTIPLE_DOCS: 'a second document begins; expected one',
};

import { randomKey } from '../../runtime/random.ts';

export type MemoryEstimate = 'fits' | 'heavy' | 'deep';

/**
 * Estimated bytes of memory for each element of a document, besides its own bytes. Measured in V8: 67 for `{}`, 43 for
 * `[]`, 10 for a small number, 25 for a fraction, 40 for a string of twelve characters, 48 for `{"a":1}`. Objects with the
 * same keys in the same order share their description, so a key does not count as a string; the first time that it
 * follows these keys it counts as `newKey`: up to 130 bytes. So does every key that begins with a digit: V8 keeps
 * numbered members in tables, up to 145 bytes for one.
 */
const WEIGHTS = { container: 64, element: 24, member: 12, text: 24, newKey: 128 } as const;

/** Keys behind others beyond these, by their hashes, always count as new: the documented answers have some dozens. */
const MAX_KEYS = 500;

/** So that no service can make keys with equal hashes. */
const HASH_KEY = randomKey().readInt32LE();

/** The deepest nesting: what is nested deeper would be parsed in one step. No documented answer is. */
export const MAX_DEPTH = 64;

/** The most members of an object: above it V8 rebuilds the whole table of members in one turn. */
const MAX_MEMBERS = 100_000;

/** The longest string, number or run of blanks: it is read in one turn. */
const MAX_RUN = 1024 * 1024;

/** The scan may be interrupted after this many bytes: some tenths of a millisecond. */
export const STEP_BYTES = 128 * 1024;

const [ZERO, NINE] = [0x30, 0x39];
export const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
export const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Checks before parsing whether a document in pieces fits into `most` bytes of memory. The memory follows from the
 * number of values, not from the number of bytes: `[{},{},…]` takes twenty times its size. A generator that yields
 * wherever it may be interrupted. Text that is not JSON is checked too; the parser rejects it later.
 */
export function* estimateMemory(pieces: Iterable<Buffer>, most: number): Generator<void, MemoryEstimate> {
  let weight = 0;
  let depth = 0;
  /** Members of the open objects, by depth. */
  const members = new Uint32Array(MAX_DEPTH + 1);
  let isText = false;
  let isEscaped = false;
  const known = new Set<number>();
  /** Of the keys of the open objects so far, by depth. */
  const hashes = new Int32Array(MAX_DEPTH + 1);
  /** Of the last text and the keys before it, by FNV-1a. */
  let hash = 0;
  /** The first byte of the last text. */
  let first: number | undefined;
  /** Bytes since the last mark, at the end of a step. */
  let run = 0;
  for (const bytes of pieces) {
    for (let begin = 0; begin < bytes.length; begin += STEP_BYTES) {
      const end = Math.min(begin + STEP_BYTES, bytes.length);
      let mark = begin - run;
      for (let at = begin; at < end; at += 1) {
        const byte = bytes[at];
        if (isText) {
          first ??= byte;
          if (byte !== QUOTE || isEscaped) hash = Math.imul(hash ^ (byte ?? 0), 16_777_619);
          if (isEscaped) isEscaped = false;
          else if (byte === BACKSLASH) isEscaped = true;
          else if (byte === QUOTE) {
            isText = false;
            mark = at;
          }
          continue;
        }
        if (byte === QUOTE) {
          isText = true;
          hash = (hashes[depth] ?? 0) ^ HASH_KEY;
          first = undefined;
          weight += WEIGHTS.text;
        } else if (byte === COMMA) weight += WEIGHTS.element;
        else if (byte === COLON) {
          weight += WEIGHTS.member - WEIGHTS.text;
          if (!known.has(hash) || isNumbered(first)) {
            weight += WEIGHTS.newKey;
            if (known.size < MAX_KEYS) known.add(hash);
          }
          hashes[depth] = hash;
          const count = (members[depth] ?? 0) + 1;
          if (count > MAX_MEMBERS) return 'heavy';
          members[depth] = count;
        } else if (byte === LIST || byte === OBJECT) {
          weight += WEIGHTS.container;
          depth += 1;
          if (depth > MAX_DEPTH) return 'deep';
          members[depth] = 0;
          hashes[depth] = 0;
        } else if (byte === LIST_END || byte === OBJECT_END) depth -= 1;
        else continue;
        mark = at;
      }
      weight += end - begin;
      run = end - mark;
      if (weight > most || run > MAX_RUN) return 'heavy';
      yield;
    }
  }
  return 'fits';
}

function isNumbered(first: number | undefined): boolean {
  return first === BACKSLASH || (first !== undefined && first >= ZERO && first <= NINE);
}

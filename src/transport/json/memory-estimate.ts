import { randomKey } from '../../runtime/random.ts';

export type MemoryEstimate = 'fits' | 'heavy' | 'deep';

/**
 * The estimated bytes of memory for each element of a document, in addition to its own bytes. Measured in V8: 67 for `{}`,
 * 43 for `[]`, 10 for a small number, 25 for a fraction, 40 for a string of twelve characters, 48 for `{"a":1}`. Objects
 * with the same keys in the same order share their description, so a key counts only the first time that it follows the
 * same keys: as `newKey`, up to 130 bytes. A key that begins with a digit always counts as `newKey`, because V8 stores
 * numbered members in tables, with up to 145 bytes for each.
 */
const WEIGHTS = { container: 64, element: 24, member: 12, text: 24, newKey: 128 } as const;

/** So many sequences of keys are remembered, by their hashes; beyond that every key counts as new. Documented responses have some dozens. */
const MAX_KEYS = 500;

/** With a random key no service can construct keys with equal hashes. */
const HASH_KEY = randomKey().readInt32LE();

/** The deepest nesting that is accepted. The parser would parse deeper elements in one step, and no documented response is as deep. */
export const MAX_DEPTH = 64;

/** The most members of an object: for more, V8 would rebuild the whole table of members in one step. */
const MAX_MEMBERS = 100_000;

/** The longest string, number or run of blanks in bytes, because each is read in one step. */
const MAX_RUN = 1024 * 1024;

/** The scan yields after this many bytes, which take some tenths of a millisecond. */
export const STEP_BYTES = 128 * 1024;

const [ZERO, NINE] = [0x30, 0x39];
export const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
export const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Estimates before parsing whether a document fits into `maxBytes` of memory. The memory depends on the number of values,
 * not on the number of bytes: `[{},{},…]` takes twenty times its size. The generator yields wherever it may be interrupted.
 * Text that is not JSON is estimated too; the parser rejects it later.
 */
export function* estimateMemory(pieces: Iterable<Buffer>, maxBytes: number): Generator<void, MemoryEstimate> {
  let weight = 0;
  let depth = 0;
  /** The number of members of each open object, by depth. */
  const members = new Uint32Array(MAX_DEPTH + 1);
  let inString = false;
  let isEscaped = false;
  const seenKeys = new Set<number>();
  /** The hash of the keys read so far of each open object, by depth. */
  const hashes = new Int32Array(MAX_DEPTH + 1);
  /** The FNV-1a hash of the last string and of the keys before it. */
  let hash = 0;
  /** The first byte of the last string. */
  let firstByte: number | undefined;
  /** The bytes from the last quote, comma or bracket to the end of the step. */
  let run = 0;
  for (const bytes of pieces) {
    for (let begin = 0; begin < bytes.length; begin += STEP_BYTES) {
      const end = Math.min(begin + STEP_BYTES, bytes.length);
      // Where the last quote, comma or bracket is.
      let lastBoundary = begin - run;
      for (let at = begin; at < end; at += 1) {
        const byte = bytes[at];
        if (inString) {
          firstByte ??= byte;
          if (byte !== QUOTE || isEscaped) hash = Math.imul(hash ^ (byte ?? 0), 16_777_619);
          if (isEscaped) isEscaped = false;
          else if (byte === BACKSLASH) isEscaped = true;
          else if (byte === QUOTE) {
            inString = false;
            lastBoundary = at;
          }
          continue;
        }
        if (byte === QUOTE) {
          inString = true;
          hash = (hashes[depth] ?? 0) ^ HASH_KEY;
          firstByte = undefined;
          weight += WEIGHTS.text;
        } else if (byte === COMMA) weight += WEIGHTS.element;
        else if (byte === COLON) {
          weight += WEIGHTS.member - WEIGHTS.text;
          if (!seenKeys.has(hash) || isNumericKey(firstByte)) {
            weight += WEIGHTS.newKey;
            if (seenKeys.size < MAX_KEYS) seenKeys.add(hash);
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
        lastBoundary = at;
      }
      weight += end - begin;
      run = end - lastBoundary;
      if (weight > maxBytes || run > MAX_RUN) return 'heavy';
      yield;
    }
  }
  return 'fits';
}

function isNumericKey(first: number | undefined): boolean {
  return first === BACKSLASH || (first !== undefined && first >= ZERO && first <= NINE);
}

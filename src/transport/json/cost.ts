/** What a document is to whoever parses it: it fits, or would take too much memory, or too much of it is nested too deep. */
export type Burden = 'fits' | 'heavy' | 'deep';

/**
 * Bytes of memory for what stands in a document, beside its own bytes; what V8 was measured to take is 67 for `{}`, 43
 * for `[]`, 10 for a number, 40 for a text of twelve characters, 48 for `{"a":1}`, and 184 where its key is one that no
 * other object has. A key is shared by all objects that have it, so it does not count as a text.
 */
const WEIGHTS = { container: 64, element: 12, member: 8, text: 24 } as const;

/** No service nests deeper; what does is parsed whole, and so there is little of it or none. */
export const DEEPEST = 64;

/** What is nested deeper takes no more bytes of memory in one place: it is parsed in one turn. */
const MOST_DEEP = 4 * 1024 * 1024;

/** No object has more members: where one grows beyond, V8 makes a new table of all of them, in one turn. */
const MOST_MEMBERS = 100_000;

/** A text, a number or a blank that is longer is none that anybody needs, and would be read in one turn. */
const LONGEST_RUN = 1024 * 1024;

/** Where the scan may be interrupted, in bytes: some tenths of a millisecond. */
const STEP_BYTES = 128 * 1024;

const [QUOTE, COMMA, COLON, BACKSLASH] = [0x22, 0x2c, 0x3a, 0x5c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Whether a document in pieces may be parsed with so many bytes of memory, before anything is made of it: what it takes
 * follows from how many values there are and not from how many bytes it has. `[{},{},…]` takes twenty times its size.
 * A generator that yields where it may be interrupted. What is no JSON has a burden too; the parser will say what it is.
 */
export function* burdenOf(pieces: Iterable<Buffer>, most: number): Generator<void, Burden> {
  let weight = 0;
  let depth = 0;
  /** Of the objects that are open, by depth. */
  const members = new Uint32Array(DEEPEST + 1);
  let isText = false;
  let isEscaped = false;
  /** The weight of all that stands before what is nested too deep. */
  let weightBefore = 0;
  /** Bytes since the last mark, at the end of a step. */
  let run = 0;
  for (const bytes of pieces) {
    for (let begin = 0; begin < bytes.length; begin += STEP_BYTES) {
      const end = Math.min(begin + STEP_BYTES, bytes.length);
      let mark = begin - run;
      for (let at = begin; at < end; at += 1) {
        const byte = bytes[at];
        if (isText) {
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
          weight += WEIGHTS.text;
        } else if (byte === COMMA) weight += WEIGHTS.element;
        else if (byte === COLON) {
          weight += WEIGHTS.member - WEIGHTS.text;
          const count = (members[depth] ?? 0) + 1;
          if (count > MOST_MEMBERS) return 'heavy';
          members[depth] = count;
        } else if (byte === LIST || byte === OBJECT) {
          weight += WEIGHTS.container;
          if (depth <= DEEPEST) weightBefore = weight;
          else if (weight - weightBefore > MOST_DEEP) return 'deep';
          depth += 1;
          members[depth] = 0;
        } else if (byte === LIST_END || byte === OBJECT_END) depth -= 1;
        else continue;
        mark = at;
      }
      weight += end - begin;
      run = end - mark;
      if (depth > DEEPEST && weight - weightBefore > MOST_DEEP) return 'deep';
      if (weight > most || run > LONGEST_RUN) return 'heavy';
      yield;
    }
  }
  return 'fits';
}

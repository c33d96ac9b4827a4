import { createHash } from 'node:crypto';

const PROGRAM = 'filer-exporter state';

/** Increased whenever older programs would misread a file. */
const VERSION = 2;

/** Lines are collected in buffers of about this size, in bytes. */
const PIECE = 65_536;

/** Bytes hashed at a time: about a millisecond's work. */
const HASHED_AT_ONCE = 1_048_576;

/** The file or its content cannot be used; the message says why. */
export class StateFault extends Error {
  override readonly name = 'StateFault';
}

/**
 * The content of the state file: a line with program, version and the checksum of the rest, then one JSON value a line.
 * A generator that yields where it may be interrupted, because there is a line for each filer and volume.
 */
export function* encode(values: Iterable<unknown>): Generator<void, readonly Buffer[]> {
  const hash = createHash('sha256');
  const pieces: Buffer[] = [];
  let text = '';
  const flush = () => {
    const piece = Buffer.from(text);
    hash.update(piece);
    pieces.push(piece);
    text = '';
  };
  for (const value of values) {
    text += `${JSON.stringify(value)}\n`;
    if (text.length >= PIECE) flush();
    yield;
  }
  flush();
  const head = { program: PROGRAM, version: VERSION, sha256: hash.digest('hex') };
  return [Buffer.from(`${JSON.stringify(head)}\n`), ...pieces];
}

/** The values that {@link encode} was given. Throws a StateFault for any other content. */
export function* decode(content: Buffer): Generator<void, readonly unknown[]> {
  const end = content.indexOf('\n');
  const head = end === -1 ? undefined : parsed(content.subarray(0, end));
  const { program, version, sha256 } = (head ?? {}) as Readonly<Record<string, unknown>>;
  if (program !== PROGRAM || typeof version !== 'number') throw new StateFault('not a state file, or corrupted');
  if (version > VERSION) throw new StateFault(`its version ${version} is newer than this program`);
  const hash = createHash('sha256');
  for (let from = end + 1; from < content.length; from += HASHED_AT_ONCE) {
    hash.update(content.subarray(from, from + HASHED_AT_ONCE));
    yield;
  }
  if (hash.digest('hex') !== sha256) throw new StateFault('corrupted: wrong checksum');
  const values: unknown[] = [];
  for (let from = end + 1; from < content.length; ) {
    const to = content.indexOf('\n', from);
    if (to === -1) throw new StateFault('corrupted: the last line is incomplete');
    values.push(parsed(content.subarray(from, to)));
    from = to + 1;
    yield;
  }
  return values;
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    throw new StateFault('corrupted: a line is not JSON');
  }
}

import type { ResponseBody } from './body.ts';
import { type FamilyHeader, type Format, headerLines } from './format.ts';

/** Lines are encoded in buffers of about this size: enough to keep a socket busy, in one or two milliseconds. */
const BUFFER_BYTES = 256 * 1024;

interface Text {
  readonly text: string;
  readonly bytes: number;
}

/** The lines of a family. */
interface FamilyLines {
  readonly header: FamilyHeader;
  readonly lines: readonly Text[];
}

/**
 * Returns the lines as they are now, in one format. It refers to immutable strings, and buffers are created when they are
 * read. `bytes` is the size of all lines without the headers.
 */
export function takeSnapshot(families: readonly FamilyLines[], bytes: number, format: Format): ResponseBody {
  let length = bytes;
  const texts = families.map(({ header, lines }) => {
    const text = headerLines(header, format);
    const first = { text, bytes: Buffer.byteLength(text) };
    length += first.bytes;
    return [first, ...lines];
  });
  return { length, buffers: () => encoded(texts) };
}

/** Yields all bytes in buffers of the same memory. */
function* encoded(families: readonly (readonly Text[])[]): Generator<Buffer> {
  let memory = Buffer.alloc(0);
  for (const { texts, bytes } of groupsOf(families)) {
    if (bytes > memory.length) memory = Buffer.allocUnsafeSlow(bytes + BUFFER_BYTES / 4);
    let at = 0;
    for (const { text } of texts) at += memory.write(text, at);
    yield memory.subarray(0, at);
  }
}

/** Yields the texts in their order, in groups that each fill a buffer. */
function* groupsOf(families: readonly (readonly Text[])[]) {
  let texts: Text[] = [];
  let bytes = 0;
  for (const family of families) {
    for (const text of family) {
      texts.push(text);
      bytes += text.bytes;
      if (bytes < BUFFER_BYTES) continue;
      yield { texts, bytes };
      texts = [];
      bytes = 0;
    }
  }
  if (bytes > 0) yield { texts, bytes };
}

import type { ResponseBody } from './body.ts';
import { type FamilyHeader, type Format, headerLines } from './format.ts';

/** Lines are joined to buffers of about this size, each in a millisecond or two. */
const BUFFER_BYTES = 512 * 1024;

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
  const texts = families.flatMap(({ header, lines }) => {
    const text = headerLines(header, format);
    const first = { text, bytes: Buffer.byteLength(text) };
    length += first.bytes;
    return [first, ...lines];
  });
  return { length, buffers: () => joined(texts) };
}

function* joined(texts: readonly Text[]): Generator<Buffer> {
  let group: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    group.push(text.text);
    bytes += text.bytes;
    if (bytes < BUFFER_BYTES) continue;
    yield Buffer.from(group.join(''));
    group = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.from(group.join(''));
}

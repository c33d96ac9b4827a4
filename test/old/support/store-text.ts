import type { Format } from '../../src/exposition/format.ts';
import type { LineStore } from '../../src/exposition/store.ts';

/** All present lines of a store as a text. */
export function textOf(store: LineStore, format: Format = 'text'): string {
  let text = '';
  for (const buffer of store.snapshot(format).buffers()) text += buffer.toString();
  return text;
}

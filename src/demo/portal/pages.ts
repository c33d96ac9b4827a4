import { uuidOf } from '../world/waveforms.ts';
import type { Item } from './item.ts';

/** A list as it was at the first request of a client that pages through it, so that no item is on two pages. */
interface Listing {
  readonly items: readonly Item[];
  readonly from: number;
  /** The query of the list: its cursor is valid for this query only. */
  readonly query: string;
}

/** One page of a list, and the cursor of the next one. */
export interface DemoPage {
  readonly items: readonly Item[];
  readonly metadata: {
    readonly iterator_id: string | null;
    readonly page_size: number;
    readonly total_pages: number | null;
    readonly total_items: number;
    readonly page: number;
  };
}

/** The maximum number of cursors; older ones become invalid. */
const KEPT = 1_000;

/** The cursors that the portal has issued. */
export class Cursors {
  readonly #open = new Map<string, Listing>();
  readonly #seed: number;
  #given = 0;

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** The page for a query of a path, or the error of its cursor. */
  page(path: string, requested: URLSearchParams, all: () => readonly Item[], defaultLimit: number): DemoPage | string {
    const id = requested.get('iterator_id');
    const limit = Number(requested.get('limit') ?? defaultLimit);
    const query = `${path}?${fingerprint(requested)}`;
    const held = id === null ? undefined : this.#open.get(id);
    if (id !== null && held === undefined) return 'Invalid cursor';
    if (held !== undefined && held.query !== query) return 'The cursor belongs to another query';
    const items = held?.items ?? all();
    const from = held?.from ?? (Number(requested.get('page') ?? 1) - 1) * limit;
    const next = from + limit;
    const isCounted = requested.get('include_count') !== 'false';
    return {
      items: items.slice(from, next),
      metadata: {
        iterator_id: next < items.length ? this.#give({ items, from: next, query }) : null,
        page_size: limit,
        total_pages: isCounted ? Math.ceil(items.length / limit) : null,
        total_items: isCounted ? items.length : 0,
        page: Math.floor(from / limit) + 1,
      },
    };
  }

  #give(listing: Listing): string {
    this.#given += 1;
    const id = uuidOf(this.#seed, 'cursor', this.#given);
    this.#open.set(id, listing);
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= KEPT) break;
      this.#open.delete(oldest);
    }
    return id;
  }
}

function fingerprint(query: URLSearchParams): string {
  return [...query]
    .filter(([name]) => name !== 'iterator_id')
    .map((pair) => pair.join('='))
    .sort((one, other) => (one < other ? -1 : 1))
    .join('&');
}

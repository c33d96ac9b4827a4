import type { ParsedSample } from '../support/exposition-parser.ts';
import type { Scrape } from '../support/scrape.ts';

/** What is counted of upstream events, and kept over restarts; all other counts are of one process. */
const KEPT = /^filer_(?:lock|propagation|data_protected)_/;

/** What a filer or a volume is called may change while what is counted of it goes on. */
const NAMES: ReadonlySet<string> = new Set(['filer', 'volume']);

/** Holds every count against what it was when it was last seen. */
export class Counters {
  readonly #seen = new Map<string, { readonly name: string; readonly filer: string | undefined; value: number }>();

  /** How many counts of upstream events are known. */
  get kept(): number {
    return [...this.#seen.values()].filter(({ name }) => KEPT.test(name)).length;
  }

  /** Throws when a count is less than it was, or of events and not there any more. Filers that are not `there` may be forgotten, and counted anew. */
  expectNoneWentBack(scrape: Scrape, there: ReadonlySet<string>): void {
    for (const [key, { filer }] of this.#seen) if (filer !== undefined && !there.has(filer)) this.#seen.delete(key);
    const found = new Set<string>();
    for (const sample of scrape.samples) {
      const { name, labels, value } = sample;
      if (!isCount(sample, scrape.types)) continue;
      const filer = labels.filer_guid;
      if (filer !== undefined && !there.has(filer)) continue;
      const key = keyOf(sample);
      const before = this.#seen.get(key)?.value ?? value;
      if (value < before) throw new Error(`${key} went back from ${before} to ${value}`);
      this.#seen.set(key, { name, filer, value });
      found.add(key);
    }
    for (const [key, { name, filer }] of this.#seen)
      if (KEPT.test(name) && filer !== undefined && !found.has(key)) throw new Error(`${key} left`);
  }

  /** A process ended: what it counted of itself is gone, and without its state all the rest as well. */
  restarted(isKept: boolean): void {
    for (const [key, { name }] of this.#seen) if (!isKept || !KEPT.test(name)) this.#seen.delete(key);
  }
}

function isCount({ name }: ParsedSample, types: ReadonlyMap<string, string>): boolean {
  if (types.get(name) === 'counter') return true;
  const [, family = ''] = /^(.*)_(?:bucket|sum|count)$/.exec(name) ?? [];
  return types.get(family) === 'histogram';
}

function keyOf({ name, labels }: ParsedSample): string {
  const told = Object.entries(labels).filter(([label]) => !NAMES.has(label));
  return `${name} ${JSON.stringify(told.sort())}`;
}

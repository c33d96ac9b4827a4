import type { ParsedSample } from '../support/exposition-parser.ts';
import type { Scrape } from '../support/scrape.ts';

/** What is counted of service events, and kept over restarts. */
const KEPT = /^filer_(?:lock|propagation|data_protected|notifications)_/;

/** What a filer or a volume is called may change while what is counted of it goes on: these labels say which it is. */
const IDS: Readonly<Record<string, readonly string[]>> = { filer: ['filer_guid', 'serial'], volume: ['volume_guid'] };

/** No counter falls, and none leaves. */
export class Counts {
  readonly #seen = new Map<string, { readonly value: number; readonly labels: ParsedSample['labels'] }>();

  /** The exporter was started again, with what it had counted or without. */
  restarted(isKept: boolean): void {
    for (const key of this.#seen.keys()) if (!isKept || !KEPT.test(key)) this.#seen.delete(key);
  }

  /** What broke the promise in a scrape. `forgives`: what is gone for good. */
  *broken(scrape: Scrape, forgives: (labels: Readonly<Record<string, string>>) => boolean): Generator<string> {
    const there = new Map<string, ParsedSample>();
    for (const sample of scrape.samples) {
      if (isCount(sample, scrape.types) && !sample.name.startsWith('nodejs_')) there.set(keyOf(sample), sample);
    }
    for (const [key, { value: before, labels }] of this.#seen) {
      const value = there.get(key)?.value;
      if (forgives(labels)) this.#seen.delete(key);
      else if (value === undefined) yield `falls: ${key} left`;
      else if (value < before) yield `falls: ${key} from ${before} to ${value}`;
    }
    for (const [key, sample] of there) this.#seen.set(key, sample);
  }
}

function isCount({ name }: ParsedSample, types: ReadonlyMap<string, string>): boolean {
  if (types.get(name) === 'counter') return true;
  const [, family = ''] = /^(.*)_(?:bucket|sum|count)$/.exec(name) ?? [];
  return types.get(family) === 'histogram';
}

/** Each series has one object of labels, scrape after scrape. */
const keys = new WeakMap<ParsedSample['labels'], string>();

function keyOf(sample: ParsedSample): string {
  const key = keys.get(sample.labels) ?? writtenKey(sample);
  keys.set(sample.labels, key);
  return key;
}

function writtenKey({ name, labels }: ParsedSample): string {
  const told = Object.entries(labels).filter(([label]) => !IDS[label]?.some((id) => labels[id] !== undefined));
  return `${name} ${JSON.stringify(Object.fromEntries(told.sort()))}`;
}

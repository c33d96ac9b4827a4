import { once } from 'node:events';
import { get as httpGet, type IncomingMessage } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { type ParsedSample, parseExposition, readExposition } from './exposition-parser.ts';

/** Labels that a sample must have, beside others. */
export type Wanted = Readonly<Record<string, string>>;

/** What one scrape brought, in the text format. Where it is read strictly, what no scraper should be given throws here. */
export class Scrape {
  readonly text: string;
  readonly samples: readonly ParsedSample[];
  /** The type of each family. */
  readonly types: ReadonlyMap<string, string>;
  readonly #byName = new Map<string, ParsedSample[]>();

  constructor(text: string, isStrict = true) {
    const { samples, types } = isStrict ? strictly(text) : readExposition(text);
    this.text = text;
    this.samples = samples;
    this.types = types;
    for (const sample of this.samples) {
      const named = this.#byName.get(sample.name);
      if (named === undefined) this.#byName.set(sample.name, [sample]);
      else named.push(sample);
    }
  }

  /** The samples of a name, or of all names that a pattern matches, with these labels among theirs. */
  all(name: string | RegExp, labels: Wanted = {}): readonly ParsedSample[] {
    const wanted = Object.entries(labels);
    const named =
      typeof name === 'string' ? (this.#byName.get(name) ?? []) : this.samples.filter((one) => name.test(one.name));
    return named.filter((sample) => wanted.every(([label, value]) => sample.labels[label] === value));
  }

  /** The value of the only sample that fits; undefined when there is none. */
  value(name: string, labels: Wanted = {}): number | undefined {
    const found = this.all(name, labels);
    if (found.length > 1) throw new Error(`${found.length} samples of ${name} ${JSON.stringify(labels)}`);
    return found[0]?.value;
  }

  /** The sum over all samples that fit. */
  sum(name: string, labels: Wanted = {}): number {
    return this.all(name, labels).reduce((sum, { value }) => sum + value, 0);
  }
}

function strictly(text: string): Pick<Scrape, 'samples' | 'types'> {
  const families = parseExposition(text, 'text');
  return {
    samples: families.flatMap(({ samples }) => samples),
    types: new Map(families.map(({ name, type }) => [name, type])),
  };
}

/** Gets a page over a connection. */
export async function get(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  // Not by `fetch`: undici fails an assertion if a connection ends while its reader lags, and each of ours ends.
  const request = httpGet(url, { headers, agent: false, timeout: 100_000 });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode ?? 0, text: await textOf(response) };
}

/** Scrapes an exporter once over a connection, in the text format. */
export async function scrape(url: string): Promise<Scrape> {
  return new Scrape((await get(`${url}/metrics`)).text);
}

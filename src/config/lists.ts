import { nearest } from '../runtime/suggest.ts';
import { parseDuration } from './duration.ts';
import { bad, entriesOf, type Flaw, good, type Kind, type Parsed, quoted } from './kind.ts';

/** A list whose entries are read one by one: every bad entry is a flaw, an entry given twice counts once. */
function listOf<Entry extends string | number>(
  text: string,
  parseEntry: (entry: string) => Entry | Flaw,
): Parsed<readonly Entry[]> {
  const values = new Set<Entry>();
  const flaws: Flaw[] = [];
  for (const entry of entriesOf(text)) {
    const value = parseEntry(entry);
    if (typeof value === 'object') flaws.push(value);
    else values.add(value);
  }
  if (flaws.length > 0) return { state: 'bad', flaws };
  return values.size === 0 ? bad(`${quoted(text)} is an empty list`) : good([...values]);
}

/** Some of a few words. */
export function wordList<const Word extends string>(words: readonly Word[]): Kind<readonly Word[]> {
  return {
    label: 'list of words',
    expects: `a comma-separated list of ${words.join(', ')}`,
    parse: (text) =>
      listOf(
        text,
        (entry): Word | Flaw =>
          words.find((word) => word === entry) ?? { what: `${quoted(entry)} is none of the known words` },
      ),
  };
}

/** Appliance serials, in lower case. */
export const serialList: Kind<readonly string[]> = {
  label: 'list of uuids',
  expects: 'a comma-separated list of uuids, such as 0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f',
  parse: (text) =>
    listOf(text, (entry): string | Flaw =>
      /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(entry)
        ? entry.toLowerCase()
        : { what: `${quoted(entry)} is not a uuid` },
    ),
};

// Up to here milliseconds are exact.
const LONGEST_BUCKET_SECONDS = Number.MAX_SAFE_INTEGER / 1000;

/** Upper bounds of histogram buckets in seconds; the infinite one comes by itself. */
export const bucketList: Kind<readonly number[]> = {
  label: 'list of durations',
  expects: 'durations or seconds of at least 1ms, ascending and separated by commas, such as 10s,1m,1h',
  parse: (text) => {
    const parsed = listOf(text, (entry): number | Flaw => {
      const seconds = /^\d+(?:\.\d+)?$/.test(entry) ? Number(entry) : (parseDuration(entry) ?? 0) / 1000;
      return seconds >= 0.001 && seconds <= LONGEST_BUCKET_SECONDS
        ? seconds
        : { what: `${quoted(entry)} is not a bucket` };
    });
    if (parsed.state === 'bad') return parsed;
    const ascending =
      parsed.value.length === entriesOf(text).length &&
      parsed.value.every((bound, place) => place === 0 || bound > (parsed.value[place - 1] ?? 0));
    return ascending ? parsed : bad(`${quoted(text)} does not ascend`);
  },
};

/** The shortest interval of anything that is polled. */
export const SHORTEST_INTERVAL_MS = 1000;

/** One of several things to poll, and its own interval where the operator gave one. */
export interface Selected {
  readonly name: string;
  readonly intervalMs: number | undefined;
}

/** What a selection selects from. */
interface Choices {
  /** What one of them is, in a few words: `a series`. */
  readonly one: string;
  readonly known: readonly string[];
  /** What a list that only drops starts from. */
  readonly usual: readonly string[];
  /** What `all` stands for. */
  readonly all: readonly string[];
  /** Why one of them takes no interval of its own; undefined where it does. */
  readonly noInterval?: (name: string) => string | undefined;
}

/**
 * Series of the portal: names, `all`, `name=interval`, and `-name` to drop one of those named before it. A list that
 * only drops starts from the standard series. The outcome is in the catalogue's order, whatever the list's.
 */
export const seriesList: Kind<readonly Selected[]> = {
  label: 'list of series',
  expects: 'series separated by commas, such as all,-smb_connections or cpu_utilization=1m,load_average',
  parse: (text, { standardSeries, furtherSeries, costlySeries }) =>
    selection(text, {
      one: 'a series',
      known: [...standardSeries, ...furtherSeries],
      usual: standardSeries,
      all: [...standardSeries, ...furtherSeries].filter((name) => costlySeries[name] === undefined),
    }),
};

/** Collectors of the portal, as {@link seriesList}; a list that only drops starts from the usual ones. */
export function collectorList(usual: readonly string[]): Kind<readonly Selected[]> {
  return {
    label: 'list of collectors',
    expects: 'collectors separated by commas, such as all,-iam or telemetry,volumes=10m',
    parse: (text, { collectors }) => {
      const known = collectors.map(({ name }) => name);
      return selection(text, {
        one: 'a collector',
        known,
        usual: known.filter((name) => usual.includes(name)),
        all: known,
        noInterval: (name) =>
          collectors.find((collector) => collector.name === name)?.intervalMs === undefined
            ? 'is polled at PORTAL_INTERVAL, and each series at its own of PORTAL_SERIES'
            : undefined,
      });
    },
  };
}

function selection(text: string, choices: Choices): Parsed<readonly Selected[]> {
  const entries = entriesOf(text);
  const flaws = entries.flatMap((entry) => entryFlaw(entry, choices) ?? []);
  if (flaws.length > 0) return { state: 'bad', flaws };
  const selected = selectedOf(entries, choices);
  return selected.length === 0 ? bad(`${quoted(text)} leaves no ${choices.one.replace(/^a /, '')}`) : good(selected);
}

const ENTRY = /^(?<sign>-?)\s*(?<name>[^=]*?)\s*(?:=\s*(?<interval>.*))?$/su;

function entryFlaw(entry: string, { one, known, noInterval }: Choices): Flaw | undefined {
  const { sign, name = '', interval } = ENTRY.exec(entry)?.groups ?? {};
  if (name !== 'all' && !known.includes(name)) {
    return { what: `${quoted(name)} is not ${one}`, meant: nearest(name, [...known, 'all']) };
  }
  if (interval === undefined) return undefined;
  if (sign === '-') return { what: `${quoted(entry)} drops ${one}, which takes no interval` };
  const refusal = noInterval?.(name);
  if (refusal !== undefined && name !== 'all') return { what: `${quoted(entry)}: ${name} ${refusal}` };
  if ((parseDuration(interval) ?? 0) >= SHORTEST_INTERVAL_MS) return undefined;
  return { what: `${quoted(entry)} has no duration of at least 1s` };
}

function selectedOf(entries: readonly string[], { known, usual, all }: Choices): readonly Selected[] {
  const onlyDrops = entries.length > 0 && entries.every((entry) => entry.startsWith('-'));
  const selected = new Map<string, number | undefined>();
  if (onlyDrops) for (const name of usual) selected.set(name, undefined);
  for (const entry of entries) {
    const { sign, name = '', interval } = ENTRY.exec(entry)?.groups ?? {};
    for (const one of name === 'all' ? (sign === '-' ? known : all) : [name]) {
      if (sign === '-') selected.delete(one);
      else selected.set(one, interval === undefined ? undefined : parseDuration(interval));
    }
  }
  return known.filter((name) => selected.has(name)).map((name) => ({ name, intervalMs: selected.get(name) }));
}

import { nearest } from '../runtime/nearest.ts';
import { parseDuration } from './duration.ts';
import { bad, entriesOf, type Flaw, good, type Kind, type Parsed, quoted, type Vocabulary } from './kind.ts';

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

/** Read operations of the portal that the catalogue knows. */
export const collectorList: Kind<readonly string[]> = {
  label: 'list of collectors',
  expects: 'a comma-separated list of collectors',
  parse: (text, { collectors }) =>
    listOf(text, (entry): string | Flaw =>
      collectors.includes(entry)
        ? entry
        : { what: `${quoted(entry)} is not a collector`, meant: nearest(entry, collectors) },
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

/** A series to poll, and its own interval where the operator gave one. */
export interface SelectedSeries {
  readonly name: string;
  readonly intervalMs: number | undefined;
}

/** The shortest interval of anything that is polled. */
export const SHORTEST_INTERVAL_MS = 1000;

/**
 * Series of the portal: names, `all`, `name=interval`, and `-name` to drop one of those named before it. A list that
 * only drops starts from the standard series. The outcome is in the catalogue's order, whatever the list's.
 */
export const seriesList: Kind<readonly SelectedSeries[]> = {
  label: 'list of series',
  expects: 'series separated by commas, such as all,-smb_connections or cpu_utilization=1m,load_average',
  parse: (text, vocabulary) => {
    const entries = entriesOf(text);
    const known = [...vocabulary.standardSeries, ...vocabulary.furtherSeries];
    const flaws = entries.flatMap((entry) => seriesFlaw(entry, known) ?? []);
    if (flaws.length > 0) return { state: 'bad', flaws };
    const selected = selectedSeries(entries, known, vocabulary);
    return selected.length === 0 ? bad(`${quoted(text)} leaves no series`) : good(selected);
  },
};

const SERIES_ENTRY = /^(?<sign>-?)\s*(?<name>[^=]*?)\s*(?:=\s*(?<interval>.*))?$/su;

function seriesFlaw(entry: string, known: readonly string[]): Flaw | undefined {
  const { sign, name = '', interval } = SERIES_ENTRY.exec(entry)?.groups ?? {};
  if (name !== 'all' && !known.includes(name)) {
    return { what: `${quoted(name)} is not a series`, meant: nearest(name, [...known, 'all']) };
  }
  if (interval === undefined) return undefined;
  if (sign === '-') return { what: `${quoted(entry)} drops a series, which takes no interval` };
  if ((parseDuration(interval) ?? 0) >= SHORTEST_INTERVAL_MS) return undefined;
  return { what: `${quoted(entry)} has no duration of at least 1s` };
}

function selectedSeries(
  entries: readonly string[],
  known: readonly string[],
  { standardSeries }: Vocabulary,
): readonly SelectedSeries[] {
  const onlyDrops = entries.length > 0 && entries.every((entry) => entry.startsWith('-'));
  const selected = new Map<string, number | undefined>();
  if (onlyDrops) for (const name of standardSeries) selected.set(name, undefined);
  for (const entry of entries) {
    const { sign, name = '', interval } = SERIES_ENTRY.exec(entry)?.groups ?? {};
    for (const one of name === 'all' ? known : [name]) {
      if (sign === '-') selected.delete(one);
      else selected.set(one, interval === undefined ? undefined : parseDuration(interval));
    }
  }
  return known.filter((name) => selected.has(name)).map((name) => ({ name, intervalMs: selected.get(name) }));
}

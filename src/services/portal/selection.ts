import { parseDuration } from '../../config/duration.ts';
import { entriesOf, invalid, type Parsed, quoted, type ValueError, valid } from '../../config/variable-type.ts';
import { MIN_INTERVAL_MS } from '../../config/variable-types.ts';
import { likelyTypo } from '../../runtime/suggest.ts';

export interface Selection {
  readonly name: string;
  readonly intervalMs: number | undefined;
}

interface Choices {
  /** What one of them is called, such as `a series`. */
  readonly one: string;
  readonly known: readonly string[];
  /** The start of a list that only removes. */
  readonly usual: readonly string[];
  readonly all: readonly string[];
  /** Why one of them accepts no interval of its own; undefined if it does. */
  readonly noInterval?: (name: string) => string | undefined;
}

export function parseSelection(text: string, choices: Choices): Parsed<readonly Selection[]> {
  const entries = entriesOf(text);
  const flaws = entries.flatMap((entry) => entryFlaw(entry, choices) ?? []);
  if (flaws.length > 0) return { state: 'bad', flaws };
  const selected = selectedOf(entries, choices);
  return selected.length === 0
    ? invalid(`${quoted(text)} selects no ${choices.one.replace(/^a /, '')}`)
    : valid(selected);
}

const ENTRY = /^(?<sign>-?)\s*(?<name>[^=]*?)\s*(?:=\s*(?<interval>.*))?$/su;

function entryFlaw(entry: string, { one, known, noInterval }: Choices): ValueError | undefined {
  const { sign, name = '', interval } = ENTRY.exec(entry)?.groups ?? {};
  if (name !== 'all' && !known.includes(name)) {
    const meant = likelyTypo(name, [...known, 'all']);
    const listed = meant === undefined ? `; known are all, ${known.join(', ')}` : '';
    return { what: `${quoted(name)} is not ${one}${listed}`, meant };
  }
  if (interval === undefined) return undefined;
  if (sign === '-') return { what: `${quoted(entry)} removes ${one} and cannot have an interval` };
  const refusal = noInterval?.(name);
  if (refusal !== undefined && name !== 'all') return { what: `${quoted(entry)}: ${name} ${refusal}` };
  if ((parseDuration(interval) ?? 0) >= MIN_INTERVAL_MS) return undefined;
  return { what: `${quoted(entry)} needs a duration of at least 1s` };
}

function selectedOf(entries: readonly string[], { known, usual, all }: Choices): readonly Selection[] {
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

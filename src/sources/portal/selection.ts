import { parseDuration } from '../../config/duration.ts';
import { bad, entriesOf, type Flaw, good, type Parsed, quoted } from '../../config/kind.ts';
import { SHORTEST_INTERVAL_MS } from '../../config/kinds.ts';
import { near } from '../../runtime/suggest.ts';

export interface Selected {
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

export function selection(text: string, choices: Choices): Parsed<readonly Selected[]> {
  const entries = entriesOf(text);
  const flaws = entries.flatMap((entry) => entryFlaw(entry, choices) ?? []);
  if (flaws.length > 0) return { state: 'bad', flaws };
  const selected = selectedOf(entries, choices);
  return selected.length === 0 ? bad(`${quoted(text)} selects no ${choices.one.replace(/^a /, '')}`) : good(selected);
}

const ENTRY = /^(?<sign>-?)\s*(?<name>[^=]*?)\s*(?:=\s*(?<interval>.*))?$/su;

function entryFlaw(entry: string, { one, known, noInterval }: Choices): Flaw | undefined {
  const { sign, name = '', interval } = ENTRY.exec(entry)?.groups ?? {};
  if (name !== 'all' && !known.includes(name)) {
    const meant = near(name, [...known, 'all']);
    const listed = meant === undefined ? `; known are all, ${known.join(', ')}` : '';
    return { what: `${quoted(name)} is not ${one}${listed}`, meant };
  }
  if (interval === undefined) return undefined;
  if (sign === '-') return { what: `${quoted(entry)} removes ${one} and cannot have an interval` };
  const refusal = noInterval?.(name);
  if (refusal !== undefined && name !== 'all') return { what: `${quoted(entry)}: ${name} ${refusal}` };
  if ((parseDuration(interval) ?? 0) >= SHORTEST_INTERVAL_MS) return undefined;
  return { what: `${quoted(entry)} needs a duration of at least 1s` };
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

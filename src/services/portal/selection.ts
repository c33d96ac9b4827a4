import { parseDuration } from '../../config/duration.ts';
import { entriesOf, type Format, invalid, quoted, type ValueError, valid } from '../../config/format.ts';
import { likelyTypo } from '../../runtime/suggest.ts';

/** A chosen series or collector with its interval. */
export interface NamedInterval {
  readonly name: string;
  readonly intervalMs: number;
}

/** An entry of a list in the configuration; its interval may follow from other variables. */
export interface Selection {
  readonly name: string;
  readonly intervalMs: number | undefined;
}

interface Choices {
  /** The noun for an entry, such as `series`, and for several. */
  readonly noun: string;
  readonly plural: string;
  readonly example: string;
  readonly names: readonly string[];
  readonly defaults: readonly string[];
  /** The entries that `all` stands for. */
  readonly all: readonly string[];
  /** Why an entry accepts no interval; undefined if it accepts one. */
  readonly noInterval?: (name: string) => string | undefined;
}

/** A list that only removes entries starts from the defaults. */
export function selectionOf(choices: Choices): Format<readonly Selection[]> {
  const { noun, plural, example } = choices;
  return {
    label: `list of ${plural}`,
    expects: `${plural} separated by commas, such as ${example}`,
    parse: (text) => {
      const entries = entriesOf(text);
      const errors = entries.flatMap((entry) => entryError(entry, choices) ?? []);
      if (errors.length > 0) return { state: 'invalid', errors };
      const selected = selectedOf(entries, choices);
      return selected.length === 0 ? invalid(`${quoted(text)} selects no ${noun}`) : valid(selected);
    },
  };
}

const ENTRY = /^(?<sign>-?)\s*(?<name>[^=]*?)\s*(?:=\s*(?<interval>.*))?$/su;

function entryError(entry: string, { noun, names, noInterval }: Choices): ValueError | undefined {
  const { sign, name = '', interval } = ENTRY.exec(entry)?.groups ?? {};
  if (name !== 'all' && !names.includes(name)) {
    const meant = likelyTypo(name, [...names, 'all']);
    const listed = meant === undefined ? `; known are all, ${names.join(', ')}` : '';
    return { what: `${quoted(name)} is not a ${noun}${listed}`, meant };
  }
  if (interval === undefined) return undefined;
  if (sign === '-') return { what: `${quoted(entry)} removes a ${noun} and cannot have an interval` };
  const noIntervalReason = noInterval?.(name);
  if (noIntervalReason !== undefined && name !== 'all')
    return { what: `${quoted(entry)}: ${name} ${noIntervalReason}` };
  if ((parseDuration(interval) ?? 0) >= 1000) return undefined;
  return { what: `${quoted(entry)} needs a duration of at least 1s` };
}

function selectedOf(entries: readonly string[], { names, defaults, all }: Choices): readonly Selection[] {
  const onlyRemoves = entries.length > 0 && entries.every((entry) => entry.startsWith('-'));
  const selected = new Map<string, number | undefined>();
  if (onlyRemoves) for (const name of defaults) selected.set(name, undefined);
  for (const entry of entries) {
    const { sign, name = '', interval } = ENTRY.exec(entry)?.groups ?? {};
    for (const selectedName of name === 'all' ? (sign === '-' ? names : all) : [name]) {
      if (sign === '-') selected.delete(selectedName);
      else selected.set(selectedName, interval === undefined ? undefined : parseDuration(interval));
    }
  }
  return names.filter((name) => selected.has(name)).map((name) => ({ name, intervalMs: selected.get(name) }));
}

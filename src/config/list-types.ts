import { formatDuration, parseDuration } from './duration.ts';
import { entriesOf, invalid, type Parsed, quoted, type ValueError, type VariableType, valid } from './variable-type.ts';
import { enumType } from './variable-types.ts';

export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Parses a list. Each invalid entry is an error of its own, and a repeated entry counts once. */
export function listOf<Entry>(
  text: string,
  parse: (entry: string, before: readonly Entry[]) => Parsed<Entry>,
): Parsed<readonly Entry[]> {
  const values: Entry[] = [];
  const errors: ValueError[] = [];
  for (const entry of entriesOf(text)) {
    const parsed = parse(entry, values);
    if (parsed.state === 'invalid') errors.push(...parsed.errors);
    else if (!values.includes(parsed.value)) values.push(parsed.value);
  }
  if (errors.length > 0) return { state: 'invalid', errors };
  return values.length === 0 ? invalid(`${quoted(text)} is an empty list`) : valid(values);
}

export function enumListType<const Word extends string>(words: readonly Word[]): VariableType<readonly Word[]> {
  return {
    label: 'list of words',
    expects: `a comma-separated list of ${words.join(', ')}`,
    parse: (text) => listOf(text, enumType(words).parse),
  };
}

export const serialList: VariableType<readonly string[]> = {
  label: 'list of uuids',
  expects: 'a comma-separated list of uuids, such as 0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f',
  parse: (text) =>
    listOf(text, (entry) =>
      UUID.test(entry) ? valid(entry.toLowerCase()) : invalid(`${quoted(entry)} is not a uuid`),
    ),
};

// Above this bound, milliseconds are not exact.
const MAX_BUCKET_SECONDS = Number.MAX_SAFE_INTEGER / 1000;

/** Upper bounds of histogram buckets in seconds, without the infinite one. */
export const bucketList: VariableType<readonly number[]> = {
  label: 'list of durations',
  expects: 'durations or seconds of at least 1ms, ascending and separated by commas, such as 10s,1m,1h',
  parse: (text) => {
    const parsed = listOf(text, (entry) => {
      const seconds = /^\d+(?:\.\d+)?$/.test(entry) ? Number(entry) : (parseDuration(entry) ?? 0) / 1000;
      return seconds >= 0.001 && seconds <= MAX_BUCKET_SECONDS
        ? valid(seconds)
        : invalid(`${quoted(entry)} is not a bucket`);
    });
    if (parsed.state === 'invalid') return parsed;
    const ascending =
      parsed.value.length === entriesOf(text).length &&
      parsed.value.every((bound, place) => place === 0 || bound > (parsed.value[place - 1] ?? 0));
    return ascending ? parsed : invalid(`${quoted(text)} is not in ascending order`);
  },
  show: (bounds) => bounds.map(bucketText).join(','),
};

/** A bound finer than a millisecond cannot be a duration, so it is written in seconds. */
function bucketText(seconds: number): string {
  const ms = seconds * 1000;
  return Number.isSafeInteger(ms) ? formatDuration(ms) : String(seconds);
}

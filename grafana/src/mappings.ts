import {
  type DataTransformerConfig,
  MappingType,
  SpecialValueMatch,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { colourOf } from './colours.ts';

/** A rank of at least this number is critical. */
export const CRITICAL = 100;

/** The rank if nothing is known: it is ordered before good ranks, and is no warning. */
export const UNKNOWN = 0.999;

/** Names for whole numbers, each with its colour. */
export function words(...texts: readonly (readonly [value: number, text: string])[]): ValueMapping[] {
  const options = Object.fromEntries(
    texts.map(([value, text], index) => [String(value), { text, color: colourOf(text), index }]),
  );
  return [{ type: MappingType.ValueToText, options }];
}

/** Names for ranges of numbers; a range ends where the next one begins, and the last has no end. */
export function ranges(...texts: readonly (readonly [from: number, text: string])[]): ValueMapping[] {
  return texts.map(([from, text], index) => ({
    type: MappingType.RangeToText,
    options: { from, to: texts[index + 1]?.[0] ?? null, result: { text, color: colourOf(text), index } },
  }));
}

/** What precedes a severity while an alert does not fire yet. In alphabetical order such alerts come last, critical ones first. */
export const PENDING = 'z ';

/** The severities in a table of alerts. In alphabetical order the worse one comes first. */
export const severities: ValueMapping[] = [
  {
    type: MappingType.ValueToText,
    options: {
      critical: { text: 'critical', color: colourOf('critical'), index: 0 },
      warning: { text: 'warning', color: colourOf('warning'), index: 1 },
      [`${PENDING}critical`]: { text: 'pending', color: colourOf('pending'), index: 2 },
      [`${PENDING}warning`]: { text: 'pending', color: colourOf('pending'), index: 3 },
      none: { text: 'none', color: colourOf('none'), index: 4 },
    },
  },
];

/** The name of a time without a value, in the legend of a timeline. */
export const unknownState: ValueMapping = {
  type: MappingType.SpecialValue,
  options: {
    match: SpecialValueMatch.NullAndNan,
    result: { text: 'unknown', color: colourOf('unknown'), index: 9 },
  },
};

/** Text that a table shows instead of the value of a label. */
export function texts(of: Readonly<Record<string, string>>): ValueMapping[] {
  const options = Object.fromEntries(Object.entries(of).map(([word, text], index) => [word, { text, index }]));
  return [{ type: MappingType.ValueToText, options }];
}

/** For an age that is negative if there is nothing that could have an age. */
export const orNothing: ValueMapping[] = words([-1, 'all protected']);

/** For the single row of -1 that `orNone` gives to an empty list. */
export const none: ValueMapping[] = words([-1, 'none']);

/** For the time until an end, which is -1 if there is no end. */
export const orNoEnd: ValueMapping[] = words([-1, 'no end']);

/** For a share, which is -1 if there is no limit. */
export const noLimit: ValueMapping[] = words([-1, 'no limit']);

/** Up and down. */
export const upOrDown: ValueMapping[] = words([1, 'up'], [0, 'down']);

/** The state of an appliance as a number; the lowest number is the worst state. */
export const standingWords: ValueMapping[] = words([2, 'up'], [1, 'no records'], [0, 'down'], [-1, 'unknown']);

/**
 * Names a rank: from 1 on a limit is exceeded, from 100 on a critical limit. A column that is sorted by it also shows the
 * reason.
 */
export const rankWords: ValueMapping[] = ranges(
  [-1, 'well'],
  [UNKNOWN - 1e-9, 'unknown'],
  // Both bounds of a range belong to it.
  [1 - 1e-9, 'warning'],
  [CRITICAL, 'critical'],
);

/** The labels whose values are words of a service, which writes them with underscores. Names of things keep theirs. */
const WORDS = [
  ...['action', 'category', 'disk', 'lock_state', 'locking', 'permission_policy', 'reason', 'resource', 'role'],
  ...['security_mode', 'setting', 'state', 'status', 'sub_category', 'type'],
];

/** Returns true if the values of this label are words of a service. */
export function isWord(label: string): boolean {
  return WORDS.includes(label);
}

/** Replaces the underscores in the words of a column by spaces. */
export const spaced: ValueMapping[] = ['(.+)_(.+)_(.+)', '(.+)_(.+)'].map((pattern, index) => {
  const text = pattern.split('_').map((_, at) => `$${at + 1}`);
  return { type: MappingType.RegexToText, options: { pattern, result: { text: text.join(' '), index } } };
});

/** Names that a service is up, or the reason why it is down. */
export const upOrWhy: ValueMapping[] = [
  { type: MappingType.ValueToText, options: { up: { text: 'up', color: colourOf('up'), index: 0 } } },
  ...['(.+)_(.+)', '(.+)'].map((pattern, index): ValueMapping => {
    const text = index === 0 ? '$1 $2' : '$1';
    return {
      type: MappingType.RegexToText,
      options: { pattern, result: { text, color: colourOf('down'), index: index + 1 } },
    };
  }),
];

/** Returns the transformation that replaces underscores by spaces in the names of lines or numbers, if these names have words. */
export function spacedNames(queries: readonly { readonly legend: string }[]): DataTransformerConfig[] {
  const labels = queries.flatMap(({ legend }) => [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label));
  return labels.some(isWord) ? [{ id: 'renameByRegex', options: { regex: '/_/g', renamePattern: ' ' } }] : [];
}

import { MappingType, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { colourOf } from './colours.ts';

/** From this rank on, it is critical. */
export const CRITICAL = 100;

/** The rank of what nothing is known of: before what is well, and no warning. */
export const UNKNOWN = 0.999;

/** Words for whole numbers, each in its colour. */
export function words(...texts: readonly (readonly [value: number, text: string])[]): ValueMapping[] {
  const options = Object.fromEntries(
    texts.map(([value, text], index) => [String(value), { text, color: colourOf(text), index }]),
  );
  return [{ type: MappingType.ValueToText, options }];
}

/** Words for ranges of numbers, from one bound up to the next; the last is open. */
export function ranges(...texts: readonly (readonly [from: number, text: string])[]): ValueMapping[] {
  return texts.map(([from, text], index) => ({
    type: MappingType.RangeToText,
    options: { from, to: texts[index + 1]?.[0] ?? null, result: { text, color: colourOf(text), index } },
  }));
}

/** The severities as a table of alerts has them; by the alphabet the worse one comes first. */
export const severities: ValueMapping[] = [
  {
    type: MappingType.ValueToText,
    options: {
      critical: { text: 'critical', color: colourOf('critical'), index: 0 },
      warning: { text: 'warning', color: colourOf('warning'), index: 1 },
    },
  },
];

/** Texts for words, as a table shows them in the place of a label. */
export function texts(of: Readonly<Record<string, string>>): ValueMapping[] {
  const options = Object.fromEntries(Object.entries(of).map(([word, text], index) => [word, { text, index }]));
  return [{ type: MappingType.ValueToText, options }];
}

/** For an age that is negative where there is nothing to have one. */
export const orNothing: ValueMapping[] = words([-1, 'all protected']);

/** For the time until an end that is -1 where there is none. */
export const orNoEnd: ValueMapping[] = words([-1, 'no end']);

/** For a share that is -1 where nothing limits it. */
export const noLimit: ValueMapping[] = words([-1, 'no limit']);

/** Up and down. */
export const upOrDown: ValueMapping[] = words([1, 'up'], [0, 'down']);

/** That a service is up, or the reason why it is not. */
export const upOrWhy: ValueMapping[] = [
  { type: MappingType.ValueToText, options: { up: { text: 'up', color: colourOf('up'), index: 0 } } },
  {
    type: MappingType.RegexToText,
    options: { pattern: '(.+)', result: { text: '$1', color: colourOf('down'), index: 1 } },
  },
];

/** How an appliance stands, as a number: the worst is the lowest. */
export const standingWords: ValueMapping[] = words([2, 'up'], [1, 'no records'], [0, 'down'], [-1, 'unknown']);

/** How bad something is, by its rank: from 1 on a limit is passed, from 100 on one that is critical. What orders also says why. */
export const rankWords: ValueMapping[] = ranges(
  [-1, 'well'],
  [UNKNOWN - 1e-9, 'unknown'],
  // Up to a bound and from it on are both inclusive.
  [1 - 1e-9, 'warning'],
  [CRITICAL, 'critical'],
);

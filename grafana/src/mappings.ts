import { MappingType, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';

/** From this rank on, it is critical. */
export const CRITICAL = 100;

/** The rank of what nothing is known of: before what is well, and no warning. */
export const UNKNOWN = 0.999;

/** Words for whole numbers, each with a colour that reads on light and on dark. */
export function words(...texts: readonly (readonly [value: number, text: string, color: string])[]): ValueMapping[] {
  const options = Object.fromEntries(
    texts.map(([value, text, color], index) => [String(value), { text, color, index }]),
  );
  return [{ type: MappingType.ValueToText, options }];
}

/** Words for ranges of numbers, from one bound up to the next; the last is open. */
export function ranges(...texts: readonly (readonly [from: number, text: string, color: string])[]): ValueMapping[] {
  return texts.map(([from, text, color], index) => ({
    type: MappingType.RangeToText,
    options: { from, to: texts[index + 1]?.[0] ?? null, result: { text, color, index } },
  }));
}

/** The severities as a table of alerts has them: their rank goes before, to sort by. */
export const severities: ValueMapping[] = [
  {
    type: MappingType.ValueToText,
    options: {
      '1 critical': { text: 'critical', color: 'red', index: 0 },
      '2 warning': { text: 'warning', color: 'orange', index: 1 },
    },
  },
];

/** Texts for words, as a table shows them in the place of a label. */
export function texts(of: Readonly<Record<string, string>>): ValueMapping[] {
  const options = Object.fromEntries(Object.entries(of).map(([word, text], index) => [word, { text, index }]));
  return [{ type: MappingType.ValueToText, options }];
}

/** For an age that is negative where there is nothing to have one. */
export const orNothing: ValueMapping[] = words([-1, 'nothing waits', 'green']);

/** For the time until an end that is -1 where there is none. */
export const orNoEnd: ValueMapping[] = words([-1, 'no end', 'green']);

/** Up and down. */
export const upOrDown: ValueMapping[] = words([1, 'up', 'green'], [0, 'down', 'red']);

/** That a service is up, or the reason why it is not. */
export const upOrWhy: ValueMapping[] = [
  { type: MappingType.ValueToText, options: { up: { text: 'up', color: 'green', index: 0 } } },
  { type: MappingType.RegexToText, options: { pattern: '(.+)', result: { text: '$1', color: 'red', index: 1 } } },
];

/** How an appliance stands, as a number: the worst is the lowest. */
export const standingWords: ValueMapping[] = words(
  [2, 'reporting', 'green'],
  [1, 'no records', 'red'],
  [0, 'unavailable', 'orange'],
  [-1, 'unknown', 'text'],
);

/** How bad something is, by its rank: from 1 on a limit is passed, from 100 on one that is critical. What orders also says why. */
export const rankWords: ValueMapping[] = ranges(
  [-1, 'well', 'green'],
  [UNKNOWN - 1e-9, 'unknown', 'text'],
  // Up to a bound and from it on are both inclusive.
  [1 - 1e-9, 'warning', 'orange'],
  [CRITICAL, 'critical', 'red'],
);

import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('../../', import.meta.url));

/** The trees to compare: the one that `BEFORE` names, if it names one, and this one. */
export const trees: readonly (readonly [name: 'before' | 'now', root: string])[] = [
  ...(process.env.BEFORE === undefined ? [] : [['before', `${process.env.BEFORE}/`] as const]),
  ['now', here],
];

/** The median. */
export function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

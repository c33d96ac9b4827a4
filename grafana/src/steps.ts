import { type Threshold, ThresholdsConfigBuilder, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard';
import { colourOf } from './colours.ts';

/** Where a value turns from good to bad; `plain` where neither more nor less is worse. */
export type Steps = readonly Threshold[];

/** High is worth a look, and never a reason to get up. */
export function warnsAbove(warning: number): Steps {
  return [
    { value: null, color: 'green' },
    { value: warning, color: 'orange' },
  ];
}

/** High is bad. */
export function above(warning: number, bad: number): Steps {
  return [
    { value: null, color: 'green' },
    { value: warning, color: 'orange' },
    { value: bad, color: 'red' },
  ];
}

/** The same for what is worse the lower it is. */
export function warnsBelow(warning: number): Steps {
  return [
    { value: null, color: 'orange' },
    { value: warning, color: 'green' },
  ];
}

/** Low is bad: red below the second number, yellow between the two. */
export function below(warning: number, bad: number): Steps {
  return [
    { value: null, color: 'red' },
    { value: bad, color: 'orange' },
    { value: warning, color: 'green' },
  ];
}

/** For how many are in a state: none is well, and any at all has the colour of the state. */
export function countOf(state: string): Steps {
  return [
    { value: null, color: 'green' },
    { value: 1, color: colourOf(state) },
  ];
}

/** More of them than this fire a critical alert. */
export function countOver(limit: number): Steps {
  return [
    { value: null, color: 'green' },
    { value: limit + 1, color: colourOf('critical') },
  ];
}

/** Any at all is bad. */
export const noneAllowed: Steps = countOf('critical');

/** Any at all deserves a look. */
export const noneExpected: Steps = countOf('warning');

/** One is good and zero is bad. */
export const oneIsGood: Steps = [
  { value: null, color: 'red' },
  { value: 1, color: 'green' },
];

/** Neither more nor less is worse. */
export const plain: Steps = [{ value: null, color: 'text' }];

/** The steps in the form of Grafana's SDK. */
export function thresholds(steps: Steps): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([...steps]);
}

import { type Threshold, ThresholdsConfigBuilder, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard';

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

/** Any at all is bad. */
export const noneAllowed: Steps = [
  { value: null, color: 'green' },
  { value: 1, color: 'red' },
];

/** Any at all deserves a look. */
export const noneExpected: Steps = [
  { value: null, color: 'green' },
  { value: 1, color: 'orange' },
];

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

import { type Threshold, ThresholdsConfigBuilder, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard';
import { colourOf } from './colours.ts';

/** The thresholds at which a value turns from good to bad; `plain` if no value is bad. */
export type Steps = readonly Threshold[];

/** A high value warns, and is never critical. */
export function warnsAbove(warning: number): Steps {
  return [
    { value: null, color: 'green' },
    { value: warning, color: 'orange' },
  ];
}

/** A high value is bad. */
export function above(warning: number, bad: number): Steps {
  return [
    { value: null, color: 'green' },
    { value: warning, color: 'orange' },
    { value: bad, color: 'red' },
  ];
}

/** The same for values of which low ones are bad. */
export function warnsBelow(warning: number): Steps {
  return [
    { value: null, color: 'orange' },
    { value: warning, color: 'green' },
  ];
}

/** A low value is bad: red below the second number, yellow between the two numbers. */
export function below(warning: number, bad: number): Steps {
  return [
    { value: null, color: 'red' },
    { value: bad, color: 'orange' },
    { value: warning, color: 'green' },
  ];
}

/** For the number of things in a state: 0 is good, and any other number has the colour of the state. */
export function countOf(state: string): Steps {
  return [
    { value: null, color: 'green' },
    { value: 1, color: colourOf(state) },
  ];
}

/**
 * A number above this one fires a critical alert. Grafana colours from a step on, so the step is just above the limit; a
 * whole number above it would be too high, because `increase()` has fractions.
 */
export function countOver(limit: number): Steps {
  return [
    { value: null, color: 'green' },
    { value: limit + 0.001, color: colourOf('critical') },
  ];
}

/** Any number above 0 is bad. */
export const noneAllowed: Steps = countOf('critical');

/** Any number above 0 warns. */
export const noneExpected: Steps = countOf('warning');

/** 1 is good and 0 is bad. */
export const oneIsGood: Steps = [
  { value: null, color: 'red' },
  { value: 1, color: 'green' },
];

/** No value is bad. */
export const plain: Steps = [{ value: null, color: 'text' }];

/** The thresholds in the format of Grafana's SDK. */
export function thresholds(steps: Steps): ThresholdsConfigBuilder {
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([...steps]);
}

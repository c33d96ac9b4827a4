import type { DynamicConfigValue } from '@grafana/grafana-foundation-sdk/dashboard';

/** Grafana's names of colours that can be read on a light and on a dark background. */
export type Colour = 'green' | 'orange' | 'red' | 'dark-red' | 'blue' | 'purple' | 'gray' | 'text';

/**
 * The meaning of each colour, the same on every dashboard. Green is good, orange begins where an alert warns, red begins
 * where a critical alert fires, blue is neutral, purple is a right or a format, and grey is unknown.
 */
const byColour: Readonly<Record<Exclude<Colour, 'text'>, readonly string[]>> = {
  green: [
    ...['up', 'healthy', 'well', 'yes', 'respond', 'checking in', 'under 5 minutes', 'newest'],
    ...['all protected', 'no end', 'no limit', 'none held', 'none', 'released', 'done', 'completed', 'sent'],
  ],
  orange: [
    ...[
      'warning',
      'no',
      'forbidden',
      'held',
      'older',
      'offered',
      '5 to 30 minutes',
      'cancelled or other',
      'unreachable',
    ],
    ...['not synced', 'behind the newest', 'missed', 'forgotten', 'out of order', 'throttled'],
  ],
  red: [
    'critical',
    'alert',
    'failed',
    'down',
    'unhealthy',
    'not checking in',
    'above 30 minutes',
    'no records',
    'never',
  ],
  'dark-red': ['error', 'timeout', 'network'],
  blue: ['info', 'pending', 'under way', 'in progress', 'acquired', 'other', 'not found', 'empty', 'absent', 'hit'],
  purple: ['another state', 'rejected', 'invalid', 'oversize', 'record', 'admin'],
  gray: [
    'unknown',
    'not known',
    'not described',
    'waiting',
    'not polled',
    'not configured',
    'service down',
    'exporter down',
    'miss',
    'a week before',
  ],
};

const table: ReadonlyMap<string, Colour> = new Map(
  Object.entries(byColour).flatMap(([colour, words]) => words.map((word) => [word, colour as Colour] as const)),
);

/** Returns the colour of a state or a severity, which is the same on every dashboard. Throws if it has none. */
export function colourOf(word: string): Colour {
  const colour = table.get(word);
  if (colour === undefined) throw new Error(`${word}: no colour; give it one in grafana/src/colours.ts`);
  return colour;
}

/** The classes of HTTP statuses. The first one that fits is used. */
const codes: readonly (readonly [pattern: string, colour: Colour])[] = [
  ['2\\d\\d', 'green'],
  ['404|422', 'blue'],
  ['401|403', 'purple'],
  ['429', 'orange'],
  ['[345]\\d\\d', 'red'],
];

/** The labels whose values have a colour. Other lines have a shade of the neutral palette. */
const COLOURED = ['code', 'severity', 'state', 'lock_state', 'reason', 'result'];

/** One override of a chart: a pattern for the ends of names of lines, and the colour of these lines. */
export interface LineColour {
  readonly pattern: string;
  readonly properties: DynamicConfigValue[];
}

/** Returns the colours of the lines that these legends name by a state or by the value of a label. */
export function lineColours(legends: readonly string[]): readonly LineColour[] {
  const literal = legends.flatMap((legend) => (table.has(legend) ? [[legend, colourOf(legend)] as const] : []));
  const labels = legends.flatMap((legend) => [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label));
  const valued = labels.some((label) => COLOURED.includes(label))
    ? Object.entries(byColour).map(([colour, words]) => [words.join('|'), colour as Colour] as const)
    : [];
  // If several overrides fit, Grafana uses the last one, so the most general one comes first.
  const statuses = labels.includes('code') ? codes.toReversed() : [];
  return [...literal, ...valued, ...statuses].map(([pattern, colour]) => ({
    pattern: `/(?:^| )(?:${pattern})$/i`,
    properties: [{ id: 'color', value: { mode: 'fixed', fixedColor: colour } }],
  }));
}

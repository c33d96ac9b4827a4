import { MappingType, type Panel, type ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { describe, expect, test } from 'vitest';
import { colourOf, lineColours } from '../../grafana/src/colours.ts';
import { dashboards, everyQuery, panelsOf } from '../support/dashboards.ts';

/* A state, a severity and a code have one colour on every board. */

interface Coloured {
  readonly where: string;
  readonly word: string;
  readonly colour: string;
}

const panels = dashboards.flatMap((dashboard) =>
  panelsOf(dashboard).map((panel) => [`${dashboard.uid} / ${panel.title}`, panel] as const),
);
const charts = panels.filter(([, { type }]) => type === 'timeseries');

function mappingsIn(where: string, mappings: readonly ValueMapping[]): readonly Coloured[] {
  return mappings.flatMap(({ type, options }): readonly Coloured[] => {
    if (type === MappingType.SpecialValue) return [];
    const results =
      type === MappingType.ValueToText ? Object.values(options) : [(options as { readonly result: object }).result];
    return (results as readonly { readonly text?: string; readonly color?: string }[]).flatMap(({ text, color }) =>
      text === undefined || color === undefined || /^\$1/.test(text) ? [] : [{ where, word: text, colour: color }],
    );
  });
}

/** Every word of a panel that has a colour: of its mappings, and of the counts of a state. */
function wordsOf(where: string, { fieldConfig }: Panel): readonly Coloured[] {
  const overridden = (fieldConfig?.overrides ?? []).flatMap(({ matcher, properties }) =>
    properties.flatMap(({ id, value }): readonly Coloured[] => {
      if (id === 'mappings') return mappingsIn(where, value);
      const isCount =
        id === 'thresholds' && matcher.id === 'byName' && value.steps.length === 2 && value.steps[1].value === 1;
      return isCount ? [{ where, word: matcher.options, colour: value.steps[1].color }] : [];
    }),
  );
  return [...mappingsIn(where, fieldConfig?.defaults.mappings ?? []), ...overridden];
}

const words = panels.flatMap(([where, panel]) => wordsOf(where, panel)).filter(({ word }) => /^[a-z]/.test(word));

describe('a word', () => {
  test.each(words)('$word has its colour on $where', ({ word, colour }) => {
    expect(colour).toBe(colourOf(word));
  });

  test('of those there are many, and one without a colour is no word', () => {
    expect(words.length).toBeGreaterThan(40);
    expect(() => colourOf('splendid')).toThrow('splendid');
  });
});

/** The colour of a line by its name: the last override that fits. */
function colourOfLine({ fieldConfig }: Panel, name: string): string | undefined {
  const fitting = (fieldConfig?.overrides ?? []).filter(({ matcher }) => {
    const [, source = '', flags = ''] = /^\/(.*)\/(i?)$/.exec(String(matcher.options)) ?? [];
    return matcher.id === 'byRegexp' && new RegExp(source, flags).test(name);
  });
  return fitting.at(-1)?.properties.find(({ id }) => id === 'color')?.value.fixedColor;
}

describe('a chart', () => {
  test.each(charts)('%s: has a quiet palette, and what has a meaning has its colour', (_where, panel) => {
    expect(panel.fieldConfig?.defaults.color).toEqual({ mode: 'shades', fixedColor: 'blue' });
    const legends = everyQuery.filter((query) => query.panel === panel).map(({ legend }) => legend);
    const expected = lineColours(legends).map(({ pattern }) => pattern);
    const found = (panel.fieldConfig?.overrides ?? []).flatMap(({ matcher }) =>
      matcher.id === 'byRegexp' ? [matcher.options] : [],
    );
    expect(found).toEqual(expected);
  });

  const named = (title: string) => {
    const found = charts.find(([where]) => where.endsWith(`/ ${title}`))?.[1];
    if (found === undefined) throw new Error(`${title}: no such chart`);
    return found;
  };

  test.each([
    ['Responses by code', 'portal 200', 'green'],
    ['Responses by code', 'portal 404', 'blue'],
    ['Responses by code', 'portal 403', 'purple'],
    ['Responses by code', 'portal 429', 'orange'],
    ['Responses by code', 'portal 500', 'red'],
    ['Responses by code', 'gfa timeout', 'dark-red'],
    ['Notifications by severity', 'alert', 'red'],
    ['Notifications by severity', 'error', 'dark-red'],
    ['Notifications by severity', 'warning', 'orange'],
    ['Notifications by severity', 'info', 'blue'],
    ['Appliances over time', 'up', 'green'],
    ['Appliances over time', 'down', 'red'],
    ['Filers by time since check-in', 'above 30 minutes', 'red'],
    ['Suspended tasks over time', 'portal empty', 'blue'],
    ['Suspended tasks over time', 'portal forbidden', 'orange'],
    ['Processors in use', 'edge-lima', undefined],
  ])('%s: the line %s is %s', (title, line, colour) => {
    expect(colourOfLine(named(title), line)).toBe(colour);
  });
});

test('a threshold is green, orange or red, and none of these where neither more nor less is worse', () => {
  const colours = panels.flatMap(([, { fieldConfig }]) => [
    ...(fieldConfig?.defaults.thresholds?.steps ?? []),
    ...(fieldConfig?.overrides ?? []).flatMap(({ properties }) =>
      properties.flatMap(({ id, value }) => (id === 'thresholds' ? value.steps : [])),
    ),
  ]);
  expect(new Set(colours.map(({ color }) => color))).toEqual(new Set(['green', 'orange', 'red', 'text']));
});

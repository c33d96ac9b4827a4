import { describe, expect, test } from 'vitest';
import { alertRules } from '../../deploy/prometheus/groups.ts';
import { inhibitRules } from '../../deploy/prometheus/inhibition.ts';
import { affected, firstStep, OUTAGES } from '../../grafana/src/alerts/words.ts';
import { recorded } from '../../grafana/src/catalogue.ts';
import { anyValues, filled } from '../../grafana/src/fill.ts';
import { dashboards, everyQuery, panelsOf } from '../support/dashboards.ts';
import { namesIn } from '../support/promql.ts';

const tables = everyQuery.filter(({ expr, panel }) => panel.type === 'table' && expr.includes('unexplained_age'));
const each = tables.map((query) => [query.where, query] as const);

describe('a word of calm', () => {
  const calm = everyQuery.filter(
    ({ panel }) =>
      panel.type !== 'timeseries' && /all protected|no end|none held/.test(JSON.stringify(panel.fieldConfig)),
  );

  test.each(calm.map((query) => [query.where, query] as const))(
    '%s: asks no recording rule, whose silence would read as calm',
    (_where, { expr }) => {
      const names = namesIn(filled(expr, anyValues)).selectors.map(({ name }) => name);
      expect(names).not.toEqual([]);
      expect(names.filter((name) => recorded.some((rule) => rule.name === name))).toEqual([]);
    },
  );

  test('has a name, which no label of a series gives it', () => {
    const said = calm.filter(({ expr }) => /-1 \* group by|\b0 \* max by/.test(expr));
    expect(said.length).toBeGreaterThan(2);
    expect(said.filter(({ legend = '' }) => legend.includes('{{')).map(({ where }) => where)).toEqual([]);
  });

  test('is on some panels', () => expect(calm.length).toBeGreaterThan(2));
});

test('a table without an answer, as when Prometheus does not respond, says neither none nor that all is well', () => {
  const shown = dashboards.flatMap(panelsOf).filter(({ type }) => type === 'table');
  expect(shown.length).toBeGreaterThan(20);
  for (const { fieldConfig, title } of shown) expect(fieldConfig?.defaults.noValue, title).toBe('not known');
});

describe('an outage', () => {
  const banners = dashboards.map((dashboard) => panelsOf(dashboard)[0]);

  test('is told on top of every board, by the same queries, and without the rules', () => {
    const asked = banners.map((panel) => panel?.targets?.map((target) => (target as { readonly expr?: string }).expr));
    expect(new Set(asked.map((queries) => JSON.stringify(queries))).size).toBe(1);
    const names = (asked[0] ?? []).flatMap((expr = '') => namesIn(filled(expr, anyValues)).selectors);
    expect(names.length).toBeGreaterThan(3);
    expect(names.filter(({ name = '' }) => name.startsWith('ALERTS') || name.includes(':'))).toEqual([]);
  });

  test('leaves no number of the last hour, which Prometheus has of the time before', () => {
    const totals = everyQuery.filter(
      ({ expr, panel }) =>
        panel.type === 'stat' && /increase\(|rate1h/.test(expr) && !expr.includes('increase(filer_exporter_'),
    );
    expect(totals.length).toBeGreaterThan(2);
    for (const { expr } of totals) expect(expr).toMatch(/and on \(job, instance\) filer_api_up\{[^}]+\} == 1/);
  });

  test('leaves no line of the last hour, which Prometheus has of the time before', () => {
    const lines = everyQuery.filter(
      ({ expr, legend, panel }) =>
        panel.type === 'timeseries' && /(?:rate|increase)1h/.test(expr) && legend !== 'a week before',
    );
    expect(lines.length).toBeGreaterThan(10);
    for (const { expr, where } of lines) {
      expect(expr, where).toMatch(/and on \(job, instance\) filer_api_up\{[^}]+\} == 1/);
    }
  });

  test('leaves no word of calm about alerts, which take minutes to fire', () => {
    const calm = everyQuery.filter(({ expr }) => /no alert|^count.*unexplained_age/.test(expr));
    expect(calm.length).toBeGreaterThan(5);
    for (const { expr } of calm) expect(expr).toMatch(/unless on \(job\) filer_api_down_info/);
  });

  test('is why a table of the data of a service is empty, in the place of a word such as none', () => {
    const shown = everyQuery.filter(
      ({ panel, refId, expr }) => panel.type === 'table' && refId === 'A' && !expr.includes('filer_api_down_info'),
    );
    expect(shown.length).toBeGreaterThan(10);
    expect(shown.filter(({ expr }) => !expr.includes('-1001 * group')).map(({ where }) => where)).toEqual([]);
  });

  test('has a name on a panel that names what it shows, which Grafana would replace by the name of the job', () => {
    const named = everyQuery.filter(
      ({ panel, expr, legend }) =>
        /^(?:stat|state-timeline)$/.test(panel.type) && expr.includes('-1001 * group') && legend.includes('{{'),
    );
    expect(named.length).toBeGreaterThan(15);
    for (const { expr, legend, where } of named) {
      const labels = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => `, "${label}", "`);
      expect(
        labels.filter((label) => !expr.includes(label)),
        where,
      ).toEqual([]);
    }
  });

  test('leaves a timeline with a line, because Grafana calls one without any line wrong', () => {
    const timelines = everyQuery.filter(({ panel }) => panel.type === 'state-timeline');
    expect(timelines.length).toBeGreaterThan(2);
    for (const { expr } of timelines) expect(expr).toContain('-1004 * group by (job) (up{');
  });

  test('leaves no newest number in a legend beside the number of unknown things', () => {
    const counts = everyQuery.filter(({ legend, panel }) => panel.type === 'timeseries' && legend === 'up');
    expect(counts.length).toBeGreaterThan(0);
    const lines = everyQuery.filter(
      ({ expr, legend, panel }) =>
        panel.type === 'timeseries' && !legend.includes('{{') && /filer_(?:appliance|volume)_|checkin/.test(expr),
    );
    expect(lines.length).toBeGreaterThan(10);
    for (const { expr, where } of [...counts, ...lines])
      expect(expr, where).toMatch(/NaN \* group by \(job\) +\(filer_api_up/);
    const legends = dashboards.flatMap(panelsOf).filter(({ type }) => type === 'timeseries');
    for (const { options, title } of legends) {
      expect((options as { readonly legend: { readonly calcs: readonly string[] } }).legend.calcs, title).toContain(
        'last',
      );
    }
  });

  test('leaves no newest number of any line of a service in a legend', () => {
    const lines = everyQuery.filter(
      ({ expr, panel }) => panel.type === 'timeseries' && /filer_(?:appliance|volume|snapshot|job)_|checkin/.test(expr),
    );
    expect(lines.length).toBeGreaterThan(40);
    for (const { expr, where } of lines) expect(expr, where).toMatch(/NaN \* group by \(job\) +\(filer_api_up/);
  });

  test('leaves no number of overdue tasks in a legend, because all are late', () => {
    const overdue = everyQuery.filter(({ panel }) => panel.type === 'timeseries' && panel.title === 'Overdue tasks');
    expect(overdue.map(({ expr }) => expr)).toEqual([
      expect.stringMatching(/ or NaN \* max by \(job, api\) \(filer_api_up\{[^}]+\} == 0\)$/),
    ]);
  });

  test('leaves no colour of a warning on the newest record, because none can arrive', () => {
    const records = everyQuery.filter(({ legend }) => legend === 'Last record');
    expect(records).toHaveLength(1);
    for (const { expr } of records) {
      expect(expr).toMatch(/unless on \(job, instance\) filer_api_up\{[^}]*api="portal"\} == 0/);
    }
  });

  test('leaves on a chart what was worst before it', () => {
    const ranked = everyQuery.filter(({ expr, instant }) => !instant && expr.includes('@ end()'));
    expect(ranked.length).toBeGreaterThan(15);
    for (const { expr, where } of ranked) {
      const [, ending = ''] = expr.split(/ and topk\(| or on \(job\) label_replace/);
      expect(ending, where).not.toMatch(/\} @ end\(\)/);
      expect(ending, where).not.toMatch(/(?<!max_over_time\()filer_api_up\{/);
    }
  });

  test('leaves no appliance red that only follows from it', () => {
    const counts = everyQuery.filter(({ expr, legend }) => expr.includes('unavailable') && legend === 'down');
    expect(counts.length).toBeGreaterThan(1);
    for (const { expr } of counts)
      expect(expr).toMatch(/unless on \(job, instance\) filer_api_up\{[^}]*api="portal"\} == 0/);
  });
});

describe('a chart of long times', () => {
  const long = dashboards
    .flatMap(panelsOf)
    .filter(
      ({ type, fieldConfig }) => type === 'timeseries' && /^suffix:(?:min|h)$/.test(fieldConfig?.defaults.unit ?? ''),
    );

  test.each(long.map((panel) => [panel.title ?? '', panel] as const))('%s: has marks at whole units', (_, panel) => {
    const { unit = '', decimals, custom, mappings } = panel.fieldConfig?.defaults ?? {};
    const below = `under 1 ${unit.replace('suffix:', '')}`;
    expect(decimals).toBe(0);
    expect(custom?.axisSoftMax).toBe(1);
    expect(mappings?.[0]?.options).toMatchObject({ from: 0.001, to: 0.999, result: { text: below } });
    for (const target of panel.targets ?? []) {
      expect((target as { readonly expr?: string }).expr).toMatch(unit === 'suffix:h' ? /\) \/ 3600$/ : /\) \/ 60$/);
    }
  });

  test('is on several boards', () => expect(long.length).toBeGreaterThan(10));
});

test('a forecast needs a week of data', () => {
  const forecasts = everyQuery.filter(({ expr }) => expr.includes('deriv('));
  expect(forecasts.length).toBeGreaterThan(0);
  for (const { expr } of forecasts)
    expect(expr).toMatch(/ and on \(job\) filer_indexing_consumed_files\{[^}]*\} offset 7d/);
});

describe('a chart', () => {
  const charts = dashboards.flatMap((dashboard) =>
    panelsOf(dashboard)
      .filter(({ type }) => type === 'timeseries')
      .map((panel) => [`${dashboard.uid} / ${panel.title}`, panel] as const),
  );

  test.each(charts)('%s: has no axis to 100 for a line of zeros', (_name, { fieldConfig }) => {
    expect(fieldConfig?.defaults.custom?.axisSoftMax).toBeGreaterThan(0);
  });

  test.each(charts)('%s: has no newest value of a line that ended before the others', (_name, { transformations }) => {
    expect(transformations?.[0]).toEqual({ id: 'joinByField', options: { byField: 'Time', mode: 'outer' } });
  });
});

test('no number is rounded below a threshold that it exceeds', () => {
  const rounded = everyQuery.filter(({ expr }) => /\bround\(/.test(expr));
  expect(rounded.length).toBeGreaterThan(10);
  for (const { where, panel, legend } of rounded) {
    const own = panel.fieldConfig?.overrides.find(({ matcher }) => matcher.options === legend)?.properties;
    const steps =
      own?.find(({ id }) => id === 'thresholds')?.value.steps ?? panel.fieldConfig?.defaults.thresholds?.steps;
    const [, ...values] = (steps as readonly { readonly value: number | null }[]).map(({ value }) => value ?? 0);
    expect(
      values.filter((value) => value > 1),
      where,
    ).toEqual([]);
  }
});

test('a stack has bars without lines or points, which would be on top of it for what there is none of', () => {
  const stacks = dashboards.flatMap(panelsOf).filter(({ fieldConfig }) => fieldConfig?.defaults.custom?.stacking);
  expect(stacks.length).toBeGreaterThan(5);
  for (const { fieldConfig } of stacks)
    expect(fieldConfig?.defaults.custom).toMatchObject({ drawStyle: 'bars', lineWidth: 0, showPoints: 'never' });
});

describe('a table of alerts', () => {
  test('says the first step in whole clauses that fit on two lines', () => {
    const steps = alertRules.map(firstStep);
    expect(steps.filter((step) => !step.endsWith('.') || step.length > 84)).toEqual([]);
  });

  test.each(each)('%s: names the outages, which explain the rest or its absence', (_where, { expr }) => {
    const named = [...expr.matchAll(/unexplained_age\{[^}]*?alertname=~"([^"]*)"/g)].flatMap(([, names = '']) =>
      names.split('|'),
    );
    for (const alert of named.length === 0 ? [] : OUTAGES) expect(named).toContain(alert);
  });

  test.each(each)('%s: names what explains its alerts, or it would be calm while that fires', (_where, { expr }) => {
    const names = /unexplained_age\{[^}]*?alertname=~"([^"]*)"/.exec(expr)?.[1]?.split('|') ?? [];
    const explaining = inhibitRules.filter(({ targets }) => targets.some((target) => names.includes(target)));
    expect(explaining.flatMap(({ sources }) => sources).filter((source) => !names.includes(source))).toEqual([]);
  });

  test.each(each)('%s: counts the filers of an alert about many, not the alert', (_where, { expr }) => {
    const names = /unexplained_age\{[^}]*?alertname=~"([^"]*)"/.exec(expr)?.[1]?.split('|') ?? Object.keys(affected);
    const many = Object.keys(affected).filter((name) => names.includes(name));
    expect(many.filter((name) => !expr.includes(`label_replace(${affected[name]}, "alertname", "${name}"`))).toEqual(
      [],
    );
  });

  test('counts for an alert about many what its rule counts, of one account', () => {
    const rules = alertRules.filter(({ count }) => count !== undefined);
    expect(rules.map(({ alert }) => alert)).toEqual(Object.keys(affected));
    const flat = (query: string) => query.replaceAll(/\s+/g, ' ');
    for (const { alert, expr, count = '' } of rules) {
      // An alert about each kind of a thing counts the things of all kinds.
      const [, ofKind] = /^sum without \(\w+\) \(max without \(instance, pod\) \((.*)\)\)$/.exec(flat(count)) ?? [];
      expect(flat(expr)).toContain(ofKind ?? flat(count));
      expect(affected[alert]?.replaceAll('{job="$job"}', '').replaceAll('job="$job",', '')).toBe(count);
    }
  });

  test('of one appliance has the outages, which have no filer', () => {
    const [{ expr = '' } = {}] = tables.filter(({ where }) => where.startsWith('filer-appliance'));
    const selectors = [...expr.matchAll(/unexplained_age\{[^}]*\}/g)].map(([selector]) => selector);
    expect(
      selectors.filter((selector) => selector.includes('FilerApiDown') && selector.includes('filer=~".*"')),
    ).not.toEqual([]);
  });
});

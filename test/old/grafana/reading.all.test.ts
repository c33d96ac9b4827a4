// Only here: what people read that is not what the service sent.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FieldConfig, MappingType, type Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { alertRules } from '../../deploy/prometheus/groups.ts';
import { firstStep } from '../../grafana/src/alerts/words.ts';
import { startShipped } from '../e2e/prometheus.ts';
import { everything } from '../e2e/question.ts';
import { dashboards, panelsOf } from '../support/dashboards.ts';
import { type ParsedSample, parseExposition } from '../support/exposition-parser.ts';
import { end, launch, type Program } from '../support/program.ts';
import { hasPrometheus, type Prometheus } from '../support/prometheus.ts';
import { get } from '../support/scrape.ts';
import { until } from '../support/until.ts';
import { answersTo, asTables, withoutAnswer } from './answers.ts';
import { type Display, type Field, type Frame, type GrafanaData, loadGrafanaData } from './grafana.ts';

/** What a person reads in one place: a cell, a large number, the newest value of a line. */
interface Reading {
  /** The title of the column or the name of the series. */
  readonly name: string;
  /** With its unit. */
  readonly text: string;
  /** As CSS. */
  readonly color: string;
  /** What the answer has. */
  readonly value: number | string | null;
  readonly linked: boolean;
}

/** The properties of a field that dashboards set; Grafana keeps what it does with each beside its editors. */
const PROPERTIES = ['unit', 'min', 'decimals', 'noValue', 'color', 'thresholds', 'mappings', 'links'];
const OWN_PROPERTIES = ['width', 'cellOptions', 'hideFrom'];

const asItIs = (text: string) => text;

/** Reads panels with Grafana's own code, as the front end would show them. */
class Reader {
  readonly #grafana: GrafanaData;
  readonly #properties: unknown;
  readonly #theme: ReturnType<GrafanaData['createTheme']>;

  constructor(grafana: GrafanaData) {
    this.#grafana = grafana;
    this.#theme = grafana.createTheme({ colors: { mode: 'dark' } });
    const property = (id: string, path: string, isCustom: boolean) => {
      return { id, path, isCustom, name: id, process: grafana.identityOverrideProcessor, shouldApply: () => true };
    };
    this.#properties = new grafana.FieldConfigOptionsRegistry(() => [
      ...PROPERTIES.map((id) => property(id, id, false)),
      ...OWN_PROPERTIES.map((id) => property(`custom.${id}`, id, true)),
    ]);
  }

  /** The frames that a panel shows, after its transformations, with its settings on each field. */
  shown(panel: Panel, frames: readonly Frame[]): readonly Frame[] {
    let changed: readonly Frame[] = panel.type === 'table' ? asTables(frames) : frames;
    this.#grafana
      .transformDataFrame(panel.transformations ?? [], changed, { interpolate: asItIs })
      .subscribe((result) => {
        changed = result;
      });
    return this.#grafana.applyFieldOverrides({
      data: changed,
      fieldConfig: panel.fieldConfig,
      fieldConfigRegistry: this.#properties,
      replaceVariables: asItIs,
      theme: this.#theme,
    });
  }

  /** A colour by its name. Boards name their colours, and each theme of Grafana has its own shade of a name. */
  colour(name: string): string {
    return this.#hex(this.#theme.visualization.getColorByName(name));
  }

  /** The titles of the columns of a table, from the left. */
  columns(panel: Panel, frames: readonly Frame[]): readonly string[] {
    const all = this.shown(panel, frames);
    return all.flatMap((frame) => frame.fields.map((field) => this.#grafana.getFieldDisplayName(field, frame, all)));
  }

  /** The rows of a table, as it sorts them. */
  rows(panel: Panel, frames: readonly Frame[]): readonly (readonly Reading[])[] {
    let [frame] = this.shown(panel, frames);
    if (frame === undefined) return [];
    const names = this.columns(panel, frames);
    const order: readonly { readonly displayName: string; readonly desc: boolean }[] = panel.options?.sortBy ?? [];
    for (const { displayName, desc } of order.toReversed()) {
      frame = this.#grafana.sortDataFrame(frame, names.indexOf(displayName), desc);
    }
    const { fields, length } = frame;
    return Array.from({ length }, (_, row) =>
      fields.map((field, column) => this.#reading(field, names[column] ?? '', field.values[row] ?? null)),
    );
  }

  /** The numbers of a panel of numbers or bars. */
  numbers(panel: Panel, frames: readonly Frame[]): readonly Pick<Reading, 'name' | 'text' | 'color'>[] {
    return this.#grafana
      .getFieldDisplayValues({
        data: this.shown(panel, frames),
        fieldConfig: panel.fieldConfig,
        reduceOptions: panel.options?.reduceOptions,
        replaceVariables: asItIs,
        theme: this.#theme,
      })
      .map(({ display }) => ({
        name: display.title ?? '',
        text: this.#text(display),
        color: this.#hex(display.color),
      }));
  }

  /** The newest value of each line of a chart. */
  lines(panel: Panel, frames: readonly Frame[]): readonly Reading[] {
    const all = this.shown(panel, frames);
    return all.flatMap((frame) =>
      frame.fields
        .filter(({ type }) => type === 'number')
        .map((field) =>
          this.#reading(field, this.#grafana.getFieldDisplayName(field, frame, all), field.values.at(-1) ?? null),
        ),
    );
  }

  /** What a field shows for a value. */
  #reading(field: Field, name: string, value: number | string | null): Reading {
    const display = field.display?.(value) ?? { text: '' };
    return { name, text: this.#text(display), color: this.#hex(display.color), value, linked: 'links' in field.config };
  }

  #hex(color = ''): string {
    return this.#grafana.colorManipulator.asHexString(color);
  }

  #text(display: Display): string {
    return this.#grafana.formattedValueToString(display);
  }
}

/** The samples of a metric whose labels are these. */
type Series = (name: string, labels?: Readonly<Record<string, string>>) => readonly ParsedSample[];

/** A number that people read first, by its panel and legend, and the same from `/metrics` alone. */
type FirstNumber = readonly [panel: string, legend: string, from: (series: Series, now: number) => number];

const values = (samples: readonly ParsedSample[]) => samples.map(({ value }) => value);
const sum = (samples: readonly ParsedSample[]) => values(samples).reduce((one, other) => one + other, 0);
const newest = (samples: readonly ParsedSample[]) => Math.max(...values(samples));
const oldest = (samples: readonly ParsedSample[]) => Math.min(...values(samples));
const zeros = (samples: readonly ParsedSample[]) => samples.filter(({ value }) => value === 0).length;

/** Time since each filer was heard of, on its own or on any volume. */
function contacts(series: Series, now: number): readonly number[] {
  const all = [
    ...series('filer_last_checkin_timestamp_seconds'),
    ...series('filer_volume_last_checkin_timestamp_seconds'),
  ];
  const filers = [...new Set(all.map(({ labels }) => labels.filer_guid))];
  return filers.map((filer) => now - newest(all.filter(({ labels }) => labels.filer_guid === filer)));
}

const standing = (state: string) => (series: Series) => sum(series('filer_appliance_state', { state }));

/** The appliance that the board of one is read for. */
const ONE = 'edge-lima';
const ofOne = (name: string) => (series: Series, now: number) => now - newest(series(name, { filer: ONE }));

/** The numbers of the first screens, each worked out by hand. */
const firstNumbers: readonly FirstNumber[] = [
  ...['filer-overview', 'filer-volumes'].flatMap((board): readonly FirstNumber[] => [
    [`${board} / Filers`, 'checking in', (series, now) => contacts(series, now).filter((age) => age <= 1800).length],
    [`${board} / Filers`, 'not checking in', (series, now) => contacts(series, now).filter((age) => age > 1800).length],
    [
      `${board} / Unprotected`,
      '',
      (series, now) => now - oldest(series('filer_oldest_unprotected_data_timestamp_seconds')),
    ],
  ]),
  ...['filer-overview', 'filer-fleet'].flatMap((board): readonly FirstNumber[] => [
    [`${board} / Appliances`, 'up', standing('reporting')],
    [`${board} / Appliances`, 'no records', standing('no_records')],
    [`${board} / Appliances`, 'down', standing('unavailable')],
  ]),
  ['filer-volumes / Check-in', '', (series, now) => Math.max(...contacts(series, now))],
  ['filer-volumes / Volumes', 'accelerated', (series) => sum(series('filer_gfa_volumes'))],
  ['filer-fleet / Unreachable', 'unreachable', (series) => zeros(series('filer_appliance_reachable'))],
  ['filer-fleet / Unreachable', 'not synced', (series) => zeros(series('filer_appliance_synced'))],
  ['filer-fleet / Updates waiting', 'offered', (series) => sum(series('filer_appliance_update_available'))],
  ['filer-fleet / Updates waiting', 'behind the newest', (series) => sum(series('filer_appliance_software_outdated'))],
  ['filer-appliance / Last record', ONE, ofOne('filer_appliance_last_record_timestamp_seconds')],
  ['filer-appliance / Last seen', ONE, ofOne('filer_appliance_last_seen_timestamp_seconds')],
  ['filer-appliance / Health score', ONE, (series) => sum(series('filer_appliance_health_score', { filer: ONE }))],
  [
    'filer-account / Subscription',
    'left',
    (series, now) => oldest(series('filer_license_expiry_timestamp_seconds')) - now,
  ],
  ['filer-account / Portal', 'health', (series) => sum(series('filer_portal_healthy'))],
  [
    'filer-account / Key expires in',
    'left',
    (series, now) => oldest(series('filer_iam_next_key_expiry_timestamp_seconds')) - now,
  ],
  ['filer-account / Failed jobs', 'failed', (series) => sum(series('filer_jobs_failed_unacknowledged'))],
  ['filer-account / Credentials', 'with an error', (series) => sum(series('filer_cloud_credentials_with_error'))],
  [
    'filer-account / Files indexed',
    'used',
    (series) => sum(series('filer_indexing_consumed_files')) / sum(series('filer_indexing_limit_files')),
  ],
  ...['forbidden', 'not_found'].map((reason): FirstNumber => {
    return [
      'filer-exporter / Suspended tasks',
      reason,
      (series) => sum(series('filer_exporter_tasks_suspended', { reason })),
    ];
  }),
];

/*
 * What people read on the dashboards: real answers, of a real Prometheus with the shipped rules on the demo, through Grafana's
 * own code for transformations, units, mappings, thresholds and what stands in the place of a value.
 */

const all = dashboards.flatMap((dashboard) =>
  panelsOf(dashboard).map((panel) => [`${dashboard.uid} / ${panel.title}`, panel] as const),
);
const of = (...types: readonly string[]) => all.filter(([, { type }]) => types.includes(type));
const tables = of('table');
const numbers = of('stat', 'bargauge');
const charts = of('timeseries');
const timelines = of('state-timeline');

/** What nobody should have to read. */
const RIDDLES = /NaN|undefined|null|Infinity|No data|\d K$|Mil$|Bil$|Value #|\$\{|\{\{/;

let grafana: GrafanaData;
let dark: Reader;

beforeAll(async () => {
  grafana = await loadGrafanaData();
  dark = new Reader(grafana);
});

/** A field with a panel's settings, or with those of a column, that shows any value. */
function display(panel: Panel, column?: string): (value: unknown) => { text: string; color: string } {
  const field = { name: column ?? 'Value', type: 'number', values: [1], config: {}, labels: {} } as const;
  const untouched = { ...panel, type: 'any', transformations: [] };
  const [shown] = dark.shown(untouched, [{ refId: 'A', fields: [field], length: 1 }]);
  return (value) => {
    const made = shown?.fields[0]?.display?.(value);
    if (made === undefined) throw new Error(`${panel.title}: expected a field that shows values`);
    return { text: grafana.formattedValueToString(made), color: made.color ?? '' };
  };
}

/** The settings of some values: of a panel, or of a column of a table. */
interface Settings {
  readonly name: string;
  readonly panel: Panel;
  readonly column?: string;
  readonly config: FieldConfig;
}

const settings = all
  .flatMap(([name, panel]): readonly Settings[] => {
    const { defaults = {}, overrides = [] } = panel.fieldConfig ?? {};
    if (panel.type !== 'table') return [{ name, panel, config: defaults }];
    return overrides
      .filter(({ properties }) => properties.some(({ id }) => id === 'unit'))
      .map(({ matcher, properties }) => {
        const own = Object.fromEntries(properties.map(({ id, value }) => [id, value]));
        const column: string = matcher.options;
        return { name: `${name} / ${column}`, panel, column, config: { ...defaults, ...own } };
      });
  })
  .map((each) => [each.name, each] as const);

describe('units', () => {
  /** Values of each unit, by how they read. */
  const texts: Readonly<Record<string, Readonly<Record<string, number>>>> = {
    locale: { '2,004': 2004, '15,403': 15_403, '1,234,567': 1_234_567 },
    s: { '1.5 mins': 90, '3.9 hours': 14_004, '4.3 weeks': 30 * 86_400 },
    percentunit: { '95.3%': 0.953, '100%': 1 },
    bytes: { '1.50 GiB': 1.5 * 2 ** 30 },
    binBps: { '1 MiB/s': 2 ** 20 },
    'suffix:/s': { '16.5 /s': 16.5 },
    'suffix:s': { '30 s': 30, '900 s': 900 },
    'suffix:min': { 'under 1 min': 0.75, '2 min': 2, '33 min': 33.3 },
    'suffix:h': { 'under 1 h': 0.2, '24 h': 24 },
  };
  const united = settings.filter(
    ([, { config }]) =>
      /^suffix:(?:min|h)$/.test(config.unit ?? '') ||
      (config.mappings ?? []).every(({ type }) => type === MappingType.SpecialValue),
  );

  test.each(united)('%s', (_name, { panel, column, config: { unit = '' } }) => {
    const show = display(panel, column);
    expect(texts[unit], unit).toBeDefined();
    for (const [text, value] of Object.entries(texts[unit] ?? {})) expect(show(value).text).toBe(text);
  });
});

describe('colours', () => {
  const large = settings.filter(([, { panel }]) => ['stat', 'table', 'bargauge'].includes(panel.type));

  test.each(large)('%s: a value that is not there has words, and no colour of an alarm', (_name, { panel, column }) => {
    const { text, color } = display(panel, column)(null);
    expect(text).toMatch(/^(?:[a-z].*|–|)$/);
    if (text !== '') expect(color).toBe(dark.colour('gray'));
  });

  test.each(large)('%s: each step has its colour from its own value on', (_name, { panel, column, config }) => {
    const show = display(panel, column);
    const steps = config.thresholds?.steps ?? [];
    expect(steps).not.toEqual([]);
    for (const [index, { value, color }] of steps.entries()) {
      if (value === null) continue;
      const [from, below] = [show(value), show(value - Math.max(1e-6, Math.abs(value) * 1e-6))];
      // A word has the colour of its mapping.
      if (!isWord(from.text)) expect(from.color).toBe(dark.colour(color));
      if (!isWord(below.text)) expect(below.color).toBe(dark.colour(steps[index - 1]?.color ?? ''));
    }
  });
});

describe.runIf(hasPrometheus)('on real answers', () => {
  const directory = mkdtempSync(join(tmpdir(), 'filer-exporter-reading-'));
  const answers = new Map<Panel, readonly Frame[]>();
  let demo: Program | undefined;
  /** Of `/metrics` before and after the scrape that Prometheus answers from: a poll may come between. */
  let looks: readonly Series[] = [];
  let at = 0;
  let prometheus: Prometheus | undefined;
  const framesFor = (panel: Panel) => answers.get(panel) ?? [];
  const answered = (panel: Panel) => framesFor(panel).some(({ length }) => length > 0);

  beforeAll(async () => {
    const program = launch(['--demo', '--trouble'], {});
    demo = program;
    const started = await startShipped(directory, new URL(await program.serving()).host, { alerts: 'at once' });
    prometheus = started;
    const seen = [
      'alert:ALERTS:unexplained_age{severity="critical"}',
      'filer_appliance_up == 0',
      'alert:ALERTS:unexplained_age{alertname="FilerNotCheckingIn"}',
      'ALERTS{alertname="FilerUnprotectedDataOld"}',
      'volume_filer:filer_propagation_duration_seconds:p90_rate1h',
    ];
    for (const query of seen) {
      await until(query, async () => (await started.query(query)).length > 0, 120_000);
    }
    const look = async (): Promise<Series> => {
      const { text } = await get(`${await program.serving()}/metrics`);
      const samples = parseExposition(text, 'text').flatMap((family) => family.samples);
      return (name, labels = {}) =>
        samples.filter(
          (sample) =>
            sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
        );
    };
    const before = await look();
    const scraped = async () => (await started.query('timestamp(up)'))[0]?.value[1];
    const last = await scraped();
    await until('another scrape', async () => (await scraped()) !== last);
    looks = [before, await look()];
    at = Math.floor(Date.now() / 1000);
    for (const dashboard of dashboards) {
      const filer = dashboard.uid === 'filer-appliance' ? ONE : everything.filer;
      const values = { ...everything, ...(filer === undefined ? {} : { filer }) };
      for (const panel of panelsOf(dashboard)) answers.set(panel, await answersTo(started, panel, { at, values }));
    }
  });

  afterAll(async () => {
    prometheus?.child.kill('SIGKILL');
    if (prometheus) await new Promise((resolve) => prometheus?.child.once('close', resolve));
    if (demo) await end(demo);
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });

  /** Between the scrape that Prometheus answers from, `/metrics` here and the answers: seconds, of times alone. */
  const MEANWHILE = 20;

  test.each(firstNumbers)('%s, %s: is the number of /metrics', (where, legend, from) => {
    const [, panel] = numbers.find(([name]) => name === where) ?? [];
    if (panel === undefined) throw new Error(`${where}: expected a panel of numbers`);
    const own = framesFor(panel).filter(({ name, length }) => length > 0 && (legend === '' || name === legend));
    const shown = own[0]?.fields[1]?.values.at(-1);
    const isTime = panel.fieldConfig?.defaults.unit === 's';
    const difference = Math.min(...looks.map((series) => Math.abs(Number(shown) - from(series, at))));
    expect(difference, `${shown} shown`).toBeLessThanOrEqual(isTime ? MEANWHILE : 1e-9);
  });

  test.each(tables.filter(([name]) => name.endsWith('/ By service')))('%s: is what /metrics says', (_name, panel) => {
    const read = dark
      .rows(panel, framesFor(panel))
      .map((row) => Object.fromEntries(row.map((cell) => [cell.name, cell])));
    expect(read.map(({ Service }) => Service?.text).toSorted()).toEqual(['gfa', 'portal']);
    for (const { Service, Now, Overdue } of read) {
      const of = { api: Service?.text ?? '' };
      expect(Now?.text).toBe(looks[1]?.('filer_api_up', of)[0]?.value === 1 ? 'up' : 'down');
      const late = looks.map((series) => series('filer_exporter_tasks_overdue', of)[0]?.value);
      if (Overdue !== undefined) expect(late).toContain(Number(Overdue.value));
    }
  });

  test('most panels have one', () => {
    expect(all.filter(([, panel]) => answered(panel)).length).toBeGreaterThan(0.8 * all.length);
  });

  test.each(tables)('%s: every cell reads as words or a number with its unit', (_name, panel) => {
    for (const row of dark.rows(panel, framesFor(panel))) {
      for (const { name, text, value, linked } of row) {
        expect(text, name).not.toMatch(RIDDLES);
        // What is not there is a dash, or nothing at all where it would be a link.
        if (value === '' || value === null) expect(text).toBe(linked ? '\u200b' : '–');
      }
    }
  });

  test.each(tables)('%s: its columns stay, whichever of its queries has no answer', (_name, panel) => {
    if (!answered(panel)) return;
    const whole = dark.columns(panel, framesFor(panel));
    const titles = titlesOf(panel);
    expect(whole).toEqual(titles.filter((title) => whole.includes(title)));
    const values = new Set(
      panel.fieldConfig?.overrides.flatMap(({ matcher, properties }) =>
        properties.some(({ id }) => id === 'unit') ? [matcher.options] : [],
      ),
    );
    for (const refId of refIdsOf(panel)) {
      const others = framesFor(panel).filter((frame) => frame.refId !== refId);
      const left = dark.columns(panel, [...others, withoutAnswer(refId)]);
      expect(left, `without ${refId}`).toEqual(expect.arrayContaining(whole.filter((title) => values.has(title))));
      expect(titles, `without ${refId}`).toEqual(expect.arrayContaining([...left]));
    }
  });

  test.each(numbers)('%s: every number has a name, and reads as a word or with its unit', (_name, panel) => {
    const read = dark.numbers(panel, framesFor(panel));
    for (const { text } of read) expect(text).not.toMatch(RIDDLES);
    const names = read.map(({ name }) => name);
    if (answered(panel)) expect(names.filter((name) => name === '' || RIDDLES.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(numbers)('%s: without an answer it has words, and no colour of an alarm', (_name, panel) => {
    const none = refIdsOf(panel).map(withoutAnswer);
    const [{ text = '', color = '' } = {}] = dark.numbers(panel, none);
    expect(text).toMatch(/^[a-z]/);
    expect(color).toBe(dark.colour('gray'));
  });

  test.each(charts)('%s: every line has a name of its own, and its newest value a unit', (_name, panel) => {
    const lines = dark.lines(panel, framesFor(panel));
    for (const { text, value } of lines) if (value !== null) expect(text).not.toMatch(RIDDLES);
    const names = lines.map(({ name }) => name);
    if (answered(panel)) expect(names.filter((name) => name.trim() === '' || RIDDLES.test(name))).toEqual([]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test.each(timelines)('%s: every state reads as a word', (_name, panel) => {
    for (const frame of dark.shown(panel, framesFor(panel))) {
      for (const { type, values, display: show } of frame.fields) {
        if (type !== 'number' || show === undefined) continue;
        for (const value of values) if (value !== null) expect(show(value).text).toMatch(/^[a-z]/);
      }
    }
  });

  describe('the alerts that fire', () => {
    const [, overview] = tables.find(([name]) => name === 'filer-overview / What is broken') ?? [];
    const read = () => {
      if (overview === undefined) throw new Error('the overview has no table of alerts');
      return dark
        .rows(overview, framesFor(overview))
        .map((row) => Object.fromEntries(row.map((cell) => [cell.name, cell])));
    };

    test('come with critical ones first, then by how long they have fired', () => {
      const ranks = read().map(({ Severity }) => ['critical', 'warning'].indexOf(Severity?.text ?? ''));
      expect(ranks).not.toContain(-1);
      expect(ranks).toEqual(ranks.toSorted());
      expect(ranks[0]).toBe(0);
      const ages = read()
        .filter(({ Severity }) => Severity?.text === 'warning')
        .map(({ Since }) => Number(Since?.value));
      expect(ages).toEqual(ages.toSorted((a, b) => b - a));
    });

    test('say what to do first in the words of the runbook, with a link to it', () => {
      const steps = new Map(alertRules.map((rule) => [rule.alert as string, firstStep(rule)]));
      for (const { Alert, 'Do first': next } of read()) {
        expect(next?.text).toBe(steps.get(Alert?.text ?? ''));
        expect(next?.linked).toBe(true);
      }
    });

    test('are one row each, with how many there are and since when', () => {
      const names = read().map(({ Alert }) => Alert?.text);
      expect(names).toEqual([...new Set(names)]);
      for (const { Number: number, Since } of read()) {
        expect(number?.text).toMatch(/^[1-9]\d*$/);
        expect(Since?.text).toMatch(/^[\d.]+ (?:ms|s|mins?|hours?|days?)$/);
      }
    });

    test('are those that Alertmanager sends: a filer that does not check in is no appliance that is down as well', () => {
      const rows = read().map(({ Alert, First }) => `${Alert?.text} ${First?.text}`);
      const silent = rows.flatMap((row) => /^FilerNotCheckingIn (.*)$/.exec(row)?.[1] ?? []);
      expect(silent).not.toEqual([]);
      const up = looks.flatMap((series) => series('filer_appliance_up', { filer: silent[0] ?? '' }));
      expect(up.map(({ value }) => value)).toEqual([0, 0]);
      expect(
        silent.flatMap((filer) => rows.filter((row) => row.startsWith('FilerAppliance') && row.endsWith(filer))),
      ).toEqual([]);
    });
  });
});

/** The titles of a table's columns, from the left. */
function titlesOf({ transformations = [] }: Panel): readonly string[] {
  const options: { readonly renameByName?: Readonly<Record<string, string>> } | undefined = transformations.find(
    ({ id }) => id === 'organize',
  )?.options;
  return Object.values(options?.renameByName ?? {});
}

function refIdsOf({ targets = [] }: Panel): readonly string[] {
  return targets.map((target) => (target as Dataquery).refId ?? '');
}

function isWord(text: string): boolean {
  return /^[a-z]/.test(text);
}

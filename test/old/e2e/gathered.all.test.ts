// Only here: queries of boards and rules that find nothing in a real Prometheus.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { annotations } from '../../grafana/src/annotations.ts';
import { filled } from '../../grafana/src/fill.ts';
import { variables } from '../../grafana/src/variables.ts';
import { HEADERS } from '../../src/history/delivery.ts';
import { writeRequest } from '../../src/history/write-request.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { sendTo } from '../history/receivers.ts';
import { everyQuery, type PanelQuery } from '../support/dashboards.ts';
import { end, launch, type Program } from '../support/program.ts';
import { hasPrometheus, type Prometheus } from '../support/prometheus.ts';
import { narrowed } from '../support/promql.ts';
import { sentMetrics } from '../support/sent-metrics.ts';
import { until } from '../support/until.ts';
import { absentPanels, emptyRules, momentPanels, rarePanels } from './expected-empty.ts';
import { SECOND, startShipped } from './prometheus.ts';
import { chosen, everything, seriesFor, type Values, valuesOf } from './question.ts';
import { type Rule, rules } from './rules.ts';

/*
 * The demo, a real Prometheus with the scrape job and rules that are shipped, and every query that dashboards and rules
 * ask. Skipped where Prometheus is not installed, unless REQUIRE_PROMETHEUS is set: then that is a failure.
 */

const ACCOUNT = 'job="filer-exporter"';

interface Result {
  readonly metric: Readonly<Record<string, string>>;
}

/** What every board asks beside its panels: for its annotations, and for variables that a query fills. */
const queriesOfEveryBoard = [
  ...annotations.map((annotation) => annotation.build().expr ?? ''),
  ...Object.values(variables).flatMap((variable) => {
    const { query } = variable.build();
    const text = typeof query === 'object' ? (query as { readonly query?: string }).query : undefined;
    return /^query_result\((.*)\)$/.exec(text ?? '')?.[1] ?? [];
  }),
];

/** The longest that data may take to be there, in milliseconds. */
const GATHERING_MS = 180_000;

test.runIf(Boolean(process.env.REQUIRE_PROMETHEUS))('prometheus is installed, as REQUIRE_PROMETHEUS asks', () => {
  expect(hasPrometheus).toBe(true);
});

describe.runIf(hasPrometheus)('on what Prometheus gathers from the demo', () => {
  let demo: Program | undefined;
  let prometheus: Prometheus;
  /** When every query had given something, in Unix seconds. */
  let gatheredAt = 0;
  const directory = mkdtempSync(join(tmpdir(), 'filer-exporter-e2e-'));
  const nameOf = (asked: PanelQuery | Rule) => ('where' in asked ? asked.where : asked.name);
  const isRare = (asked: PanelQuery | Rule) => nameOf(asked) in rarePanels;
  const isEmpty = (asked: PanelQuery | Rule) => nameOf(asked) in ('where' in asked ? absentPanels : emptyRules);
  const usual = [...everyQuery, ...rules].filter((asked) => !isRare(asked) && !(nameOf(asked) in momentPanels));
  /** Queries that gave something at any moment of the gathering: what holds for seconds counts, as a lock that is held. */
  const gave = new Set<string>();

  const ask = async (asked: PanelQuery | Rule) => {
    const found =
      'where' in asked ? await seriesFor(prometheus, asked, everything) : (await prometheus.query(asked.open)).length;
    if (found > 0) gave.add(nameOf(asked));
    return gave.has(nameOf(asked));
  };

  beforeAll(async () => {
    const began = performance.now();
    demo = launch(['--demo', '--trouble'], {});
    prometheus = await startShipped(directory, new URL(await demo.serving()).host, { accounts: 2 });
    const awaited = usual.filter((asked) => !isEmpty(asked));
    const gathered = async () => {
      for (const asked of awaited.filter((one) => !gave.has(nameOf(one)))) await ask(asked);
      return awaited.every((one) => gave.has(nameOf(one)));
    };
    // What never comes is told by the tests below, each by its name.
    await until('every query to give something', gathered, GATHERING_MS).catch(() => undefined);
    gatheredAt = Math.ceil(Date.now() / 1000);
    process.stdout.write(`e2e: gathered for ${((performance.now() - began) / 1000).toFixed(0)} s\n`);
  }, GATHERING_MS + 60_000);

  afterAll(async () => {
    prometheus?.child.kill('SIGKILL');
    if (prometheus) await new Promise((resolve) => prometheus.child.once('close', resolve));
    if (demo) await end(demo);
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });

  test('the shipped job is up, and Prometheus finds no fault with the shipped rules', async () => {
    const up = { health: 'up', lastError: '' };
    expect(await prometheus.targets()).toMatchObject([up, up, up]);
    const { groups } = await prometheus.ask<{
      readonly groups: readonly { readonly rules: readonly { readonly name: string; readonly health: string }[] }[];
    }>('rules');
    const states = groups.flatMap((group) => group.rules).map(({ name, health }) => `${name} ${health}`);
    expect(states.toSorted()).toEqual(rules.map(({ name }) => `${name} ok`).toSorted());
  });

  test.each(usual.map((asked) => [nameOf(asked), asked] as const))('%s', async (name, asked) => {
    expect({ name, empty: !(await ask(asked)) }).toEqual({ name, empty: isEmpty(asked) });
  });

  test.each(everyQuery.filter(isRare).map((query) => [query.where, query] as const))('%s', async (where, query) => {
    await seriesFor(prometheus, query, everything);
    // What is recorded of a counter is how far it rose.
    const recorded = /volume:(\w+):increase1h/g;
    const sinceTheStart = { ...query, expr: query.expr.replaceAll(recorded, '$1') };
    const [[, counter] = []] = query.expr.matchAll(recorded);
    const [events] = await prometheus.query(`sum(${counter})`);
    const found = await seriesFor(prometheus, sinceTheStart, everything);
    expect({ where, shows: found > 0 }).toEqual({ where, shows: Number(events?.value[1] ?? 0) > 0 });
  });

  test.each(Object.entries(momentPanels))('%s can be asked: %s', async (where) => {
    const query = everyQuery.find((one) => one.where === where);
    expect(query && (await seriesFor(prometheus, query, everything))).toBeGreaterThanOrEqual(0);
  });

  /** Whether a panel showed something in the last ten minutes: a lock is held for seconds, and no table has to show one now. */
  const showedLately = async (query: PanelQuery, values: Values) =>
    (await seriesFor(prometheus, { ...query, instant: false }, values)) > 0;

  test('the variables have values, and with all of them chosen by name every panel shows something still', async () => {
    const values: Record<string, string> = { ...everything };
    // Of accounts, one is chosen at a time.
    for (const name of ['filer', 'volume']) {
      const options = await valuesOf(prometheus, name);
      expect(options, name).not.toEqual([]);
      values[name] = chosen(options);
    }
    let empty = everyQuery.filter((asked) => usual.includes(asked) && !isEmpty(asked));
    const allShow = async () => {
      const still: PanelQuery[] = [];
      for (const query of empty) if (!(await showedLately(query, values))) still.push(query);
      empty = still;
      return empty.length === 0;
    };
    await until('every panel to show something', allShow, GATHERING_MS).catch(() => undefined);
    expect(empty.map(({ where }) => where)).toEqual([]);
  });

  test('every panel and rule shows something of an account whose metrics two exporters have', async () => {
    const second = { ...everything, job: SECOND };
    const shows = async (asked: PanelQuery | Rule) =>
      'where' in asked
        ? await showedLately(asked, second)
        : (await prometheus.query(narrowed(asked.open, `job="${SECOND}"`))).length > 0;
    let empty = usual.filter((asked) => !isEmpty(asked));
    const allShow = async () => {
      const still: typeof empty = [];
      for (const asked of empty) if (!(await shows(asked))) still.push(asked);
      empty = still;
      return empty.length === 0;
    };
    await until('every query to show something', allShow, GATHERING_MS).catch(() => undefined);
    expect(empty.map(nameOf)).toEqual([]);
  });

  test('no query of a board or rule changes by a second account, or by what remote write sends', async () => {
    const now = Math.floor(Date.now() / 1000);
    const scraped = await prometheus.query(`{${ACCOUNT},__name__=~"${[...sentMetrics].join('|')}"}`, now);
    expect(scraped.length).toBeGreaterThan(100);
    const times = Array.from({ length: 15 }, (_, ago) => (now - 60 * (14 - ago)) * 1000);
    const sent = scraped.map(({ metric, value: [, value] }) => ({
      labels: Object.entries({ ...metric, job: 'filer-exporter-minutes' }).sort(([one], [other]) =>
        one < other ? -1 : 1,
      ),
      times,
      // Other values than those scraped, so that a mean changes as a sum does.
      values: times.map(() => 2 * Number(value) + 1),
    }));
    const send = sendTo(`${prometheus.url}/api/v1/write`);
    const accepted = await send(HEADERS, runToEnd(writeRequest(sent)), AbortSignal.timeout(10_000));
    expect(accepted.status).toBeLessThan(300);

    const answers = async (expr: string) => {
      const query = encodeURIComponent(expr);
      // What was scraped and recorded until then has been stored.
      const at = now - 10;
      // Before the first scrapes an account is absent, and another one is not.
      const from = Math.min(at, Math.max(at - 120, gatheredAt));
      const paths = [`query?query=${query}&time=${at}`, `query_range?query=${query}&start=${from}&end=${at}&step=30`];
      const found = paths.map((path) => prometheus.ask<{ readonly result: readonly Result[] }>(path));
      return (await Promise.all(found)).map(({ result }) =>
        result
          .filter(({ metric }) => metric.job !== SECOND)
          .map(textOf)
          .sort(),
      );
    };
    // Sums are in any order, so their last digits differ.
    const textOf = (series: object) =>
      JSON.stringify(series, (key, value) => (key === '1' ? Number(value).toPrecision(9) : value));
    const changes = async (shipped: string) => {
      // Of equal values, Prometheus takes any.
      const expr = shipped.replaceAll(/\b(topk|bottomk)( by \([\w, ]+\) )?\(\d+/g, '$1$2(1000');
      return JSON.stringify(await answers(expr)) !== JSON.stringify(await answers(narrowed(expr, ACCOUNT)));
    };
    expect(await changes('count(filer_appliance_cpu_utilization_ratio)')).toBe(true);
    expect(await changes('avg_over_time(filer_appliance_cpu_utilization_ratio[10m])')).toBe(true);
    expect(await changes('sum by (filer) (filer_volume_unprotected_bytes)')).toBe(true);
    const asked = [
      ...everyQuery.map(({ where, expr }) => [where, filled(expr, everything)] as const),
      ...queriesOfEveryBoard.map((expr) => [expr, filled(expr, everything)] as const),
      ...rules.flatMap(({ name, expr, open }) => [[name, expr] as const, [`${name}, open`, open] as const]),
    ];
    const changed: string[] = [];
    for (const [name, expr] of asked) if (await changes(expr)) changed.push(name);
    // The chart of the exact minutes asks for what was sent.
    expect(changed).toEqual(['filer-appliance / Processors in use, every minute / A']);
    expect(await valuesOf(prometheus, 'job')).toEqual(['filer-exporter', SECOND]);
  });

  test('nothing is expected to be empty that is not there', () => {
    const there = new Set([...everyQuery, ...rules].map(nameOf));
    const listed = [absentPanels, rarePanels, momentPanels, emptyRules].flatMap((list) => Object.keys(list));
    expect(listed.filter((name) => !there.has(name))).toEqual([]);
  });
});

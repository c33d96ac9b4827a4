import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';
import { describe, expect, test } from 'vitest';
import { metricOfSeries } from '../../grafana/src/catalogue.ts';
import { anyValues, filled } from '../../grafana/src/fill.ts';
import { uids } from '../../grafana/src/places.ts';
import { catalog } from '../../src/catalog.ts';
import { dashboards, everyQuery, queriesOf } from '../support/dashboards.ts';
import { wordsOf } from '../support/metric-facts.ts';
import { namesIn } from '../support/promql.ts';

/** How many values each label can have, whatever the size of the fleet; what is not named here grows with it. */
type Values = Readonly<Record<string, number>>;

/** The labels of the series of a metric, by its name. */
type LabelsOf = (series: string) => readonly string[];

/**
 * Where a query counts or adds up series of several exporters, which tell the same. A quantile of a histogram is right all the
 * same.
 */
function countedByInstance(query: string, labelsOf: LabelsOf): readonly string[] {
  const bounds = new Bounds(query, labelsOf, {});
  bounds.of(parser.parse(query).topNode.firstChild ?? fail(query));
  return bounds.counted;
}

/** What is known of the result of a query: its labels, and how many series it has at most. */
interface Bound {
  readonly labels: readonly string[];
  readonly most: number;
}

/** How many series a query gives at most, by its text alone; `Infinity` where that grows with the fleet. */
function maxSeries(query: string, labelsOf: LabelsOf, values: Values): number {
  const root = parser.parse(query).topNode.firstChild;
  if (root === null) throw new Error('an empty query');
  return new Bounds(query, labelsOf, values).of(root).most;
}

class Bounds {
  readonly #query: string;
  readonly #labelsOf: LabelsOf;
  readonly #values: Values;
  /** Sums and counts over what has a label `instance` still. */
  readonly counted: string[] = [];
  #inQuantile = false;

  constructor(query: string, labelsOf: LabelsOf, values: Values) {
    this.#query = query;
    this.#labelsOf = labelsOf;
    this.#values = values;
  }

  of(node: SyntaxNode): Bound {
    switch (node.name) {
      case 'VectorSelector': {
        const labels = this.#labelsOf(this.#text(node.getChild('Identifier') ?? node));
        const alone = node.getChildren('LabelMatchers').flatMap((all) => this.#equal(all));
        return this.#many(
          labels,
          labels.filter((label) => !alone.includes(label)),
        );
      }
      case 'NumberDurationLiteral':
      case 'StringLiteral':
        return { labels: [], most: 1 };
      case 'AggregateExpr':
        return this.#aggregate(node);
      case 'FunctionCall':
        return this.#call(node);
      case 'BinaryExpr':
        return this.#binary(node);
      default:
        return this.of(operands(node)[0] ?? fail(this.#text(node)));
    }
  }

  #aggregate(node: SyntaxNode): Bound {
    const given = operands(node.getChild('FunctionCallBody') ?? node);
    const name = this.#text(node.firstChild ?? node);
    const subject = this.of(given.at(-1) ?? fail(this.#text(node)));
    if (name === 'topk' || name === 'bottomk') {
      const each = Number(this.#text(given[0] ?? node));
      const by = names(node.getChild('AggregateModifier')).map((label) => this.#text(label));
      return { ...subject, most: Math.min(subject.most, each * this.#many(by, by).most) };
    }
    if (/^(?:sum|count|avg)$/.test(name) && subject.labels.includes('instance') && !this.#inQuantile) {
      this.counted.push(this.#text(node));
    }
    const modifier = node.getChild('AggregateModifier');
    const named = names(modifier).map((label) => this.#text(label));
    const kept =
      modifier?.getChild('Without') == null ? named : subject.labels.filter((label) => !named.includes(label));
    const made = name === 'count_values' ? [this.#text(given[0] ?? node).slice(1, -1)] : [];
    const groups = this.#many(kept, kept).most;
    return { labels: [...kept, ...made], most: made.length > 0 ? subject.most : Math.min(groups, subject.most) };
  }

  #call(node: SyntaxNode): Bound {
    const name = this.#text(node.firstChild ?? node);
    if (/^(?:time|vector|absent|scalar)$/.test(name)) return { labels: [], most: 1 };
    const given = operands(node.getChild('FunctionCallBody') ?? node);
    if (name === 'histogram_quantile') {
      this.#inQuantile = true;
      const buckets = this.of(given[1] ?? fail(this.#text(node)));
      this.#inQuantile = false;
      const labels = buckets.labels.filter((label) => label !== 'le');
      return this.#many(labels, labels);
    }
    const subject = this.of(given[0] ?? fail(this.#text(node)));
    if (!name.startsWith('label_')) return subject;
    const made = this.#text(given[1] ?? node).slice(1, -1);
    return { ...subject, labels: [...new Set([...subject.labels, made])] };
  }

  #binary(node: SyntaxNode): Bound {
    const sides = operands(node);
    const [left, right] = [this.of(sides[0] ?? node), this.of(sides[1] ?? node)];
    if (node.getChild('Or') !== null) {
      // By labels of one value at most, the right is for where the left has nothing.
      const clause = node.getChild('MatchingModifierClause');
      const by = names(clause).map((label) => this.#text(label));
      const instead = clause?.getChild('On') != null && this.#many(by, by).most === 1;
      const most = instead ? Math.max(left.most, right.most) : left.most + right.most;
      return { labels: [...new Set([...left.labels, ...right.labels])], most };
    }
    if (node.getChild('Unless') !== null) return left;
    if (right.labels.length === 0 && right.most === 1 && node.getChild('And') === null) return left;
    if (left.labels.length === 0 && left.most === 1 && node.getChild('And') === null) return right;
    const matching = node.getChild('MatchingModifierClause');
    const on = matching?.getChild('On') == null ? undefined : names(matching).map((label) => this.#text(label));
    if (matching?.getChild('GroupRight') != null) return right;
    if (matching?.getChild('GroupLeft') != null) return left;
    // Each of the right is matched by as many of the left as there are values of the labels that are not matched on.
    const others = on === undefined ? [] : left.labels.filter((label) => !on.includes(label));
    return { ...left, most: Math.min(left.most, right.most * this.#many(others, others).most) };
  }

  #many(labels: readonly string[], counted: readonly string[]): Bound {
    const most = counted.reduce((product, label) => product * (this.#values[label] ?? Number.POSITIVE_INFINITY), 1);
    return { labels, most };
  }

  /** The labels that a selection asks for one value of. */
  #equal(matchers: SyntaxNode): readonly string[] {
    return matchers
      .getChildren('UnquotedLabelMatcher')
      .filter((matcher) => matcher.getChild('MatchOp')?.getChild('EqlSingle') != null)
      .map((matcher) => this.#text(matcher.firstChild ?? matcher));
  }

  #text({ from, to }: SyntaxNode): string {
    return this.#query.slice(from, to);
  }
}

function names(node: SyntaxNode | null | undefined): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const cursor = node?.cursor();
  cursor?.iterate(({ name, node: each }) => {
    if (name === 'LabelName' && node != null && each.from >= node.from && each.to <= node.to) found.push(each);
  });
  return found;
}

/** The children that are values themselves. */
function operands(node: SyntaxNode): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (/(?:Selector|Expr|Literal|Call)$/.test(child.name)) found.push(child);
  }
  return found;
}

function fail(text: string): never {
  throw new Error(`${text}: expected a value in it`);
}

/** No panel has more, so that a board answers as quickly for two thousand appliances as for twelve. */
const MOST = 50;

/** Two accounts with two exporters each, and what comes with the data but not with the size of the fleet. */
const known: Values = {
  job: 1,
  instance: 2,
  scope: 2,
  code: 10,
  severity: 4,
  type: 6,
  role: 2,
  protocol: 4,
  setting: 3,
  cloud_provider: 6,
  status: 8,
  service: 12,
  kind: 3,
  phase: 3,
  locking: 2,
  group: 4,
  lock_phase: 3,
  lock_state: 3,
  reason: 8,
  outcome: 3,
  api: 2,
  account: 2,
  company: 1,
  location: 1,
  le: 13,
  state: 8,
  direction: 2,
  disk: 4,
  peer: 2,
  window: 3,
  result: 2,
  series: 22,
  resource: 8,
};

/** What the services document is counted, where that is more. */
const documented: Values = Object.fromEntries(
  catalog.flatMap((entry) => Object.entries(wordsOf(entry)).map(([label, all]) => [label, all.length] as const)),
);

const labelsOf = (series: string) => {
  const { metric, part } = metricOfSeries(series);
  // What is recorded of alerts is of no exporter any more.
  const instance = series.startsWith('alert:') ? [] : ['instance'];
  return ['job', ...instance, ...metric.labels, ...(part === '_bucket' ? ['le'] : [])];
};

test.each(dashboards.map((dashboard) => [dashboard.title ?? '', dashboard] as const))(
  'no panel of %s has more than 50 series, however large the fleet is',
  (_title, dashboard) => {
    // The board about one appliance has one chosen.
    const values = { ...documented, ...known, ...(dashboard.uid === uids.appliance ? { filer: 1, serial: 1 } : {}) };
    const worst = (dashboard.templating.list ?? []).find(({ name }) => name === 'worst')?.query;
    const [, ranked = '0'] = /query_result\(topk\((\d+),/.exec(JSON.stringify(worst)) ?? [];
    const sizes = queriesOf(dashboard).map(({ expr, where }) => {
      const filer = expr.includes('"$worst"') && !expr.includes('"$filer"') ? { filer: Number(ranked) } : {};
      return [where, maxSeries(filled(expr, { ...anyValues, top: '50' }), labelsOf, { ...values, ...filer })] as const;
    });
    expect(sizes.filter(([, most]) => most > MOST)).toEqual([]);
  },
);

test('no chart computes a value of every filer or volume more than 100 times', () => {
  const grows = (name = '') =>
    metricOfSeries(name).metric.labels.some((label) => /^(?:filer|serial|volume)$/.test(label));
  const charts = everyQuery.filter(({ expr, instant, dashboard }) => {
    const { selectors } = namesIn(filled(expr, anyValues));
    return !instant && dashboard.uid !== uids.appliance && selectors.some(({ name }) => grows(name));
  });
  expect(
    charts.filter(({ panel }) => (panel.maxDataPoints ?? Number.POSITIVE_INFINITY) > 100).map(({ where }) => where),
  ).toEqual([]);
  expect(charts.length).toBeGreaterThan(20);
});

/** What is about the exporter itself: two of them have each their own. */
const OWN = /^(?:filer_exporter_|filer_api_|filer_gfa_.*timestamp|process_|nodejs_|up$|scrape_)/;

describe('two exporters of one account', () => {
  test('count nothing twice', () => {
    const twice = everyQuery.flatMap(({ expr, where }) => {
      const query = filled(expr, anyValues);
      const own = namesIn(query).selectors.every(({ name = '' }) => OWN.test(name));
      return own ? [] : countedByInstance(query, labelsOf).map((place) => `${where}: ${place}`);
    });
    expect(twice).toEqual([]);
  });

  test.each([
    ['sum by (volume) (rate(filer_lock_events_total[1h]))', 1],
    ['sum by (volume) (max without (instance, pod) (rate(filer_lock_events_total[1h])))', 0],
    ['count(max by (serial) (filer_appliance_info))', 0],
    ['count(filer_appliance_info)', 1],
    ['histogram_quantile(0.9, sum by (le) (rate(filer_lock_duration_seconds_bucket[1h])))', 0],
  ])('%s counts twice in %i places', (query, places) => {
    expect(countedByInstance(query, labelsOf)).toHaveLength(places);
  });
});

describe('the most series that a query gives', () => {
  const of = (query: string) => maxSeries(query, labelsOf, { job: 1, instance: 2, api: 2, disk: 4, direction: 2 });

  test.each([
    ['filer_api_up', 4],
    ['max by (api) (filer_api_up)', 2],
    ['max without (instance) (filer_api_up)', 2],
    ['filer_api_up{api="gfa"}', 2],
    ['max by (disk, direction) (filer_appliance_disk_iops)', 8],
    ['topk(5, max by (filer) (filer_appliance_disk_iops))', 5],
    ['max by (filer) (filer_appliance_up) and topk(5, max by (filer) (filer_appliance_up @ end()))', 5],
    [
      'max by (filer, disk) (filer_appliance_disk_iops) and on (filer) topk(5, max by (filer) (filer_appliance_up))',
      20,
    ],
    ['topk by (disk) (5, filer_appliance_disk_iops)', 20],
    ['topk by (filer) (5, filer_appliance_disk_iops)', Number.POSITIVE_INFINITY],
    ['topk(5, filer_appliance_up) or topk(3, filer_appliance_cpu_cores)', 8],
    ['topk(5, filer_appliance_up) or on () topk(3, filer_appliance_cpu_cores)', 5],
    ['time() - max(filer_last_checkin_timestamp_seconds)', 1],
    ['sum(filer_appliance_up == bool 0)', 1],
    ['max by (filer) (filer_appliance_up)', Number.POSITIVE_INFINITY],
    ['max by (filer) (filer_appliance_up) and filer_appliance_cpu_cores', Number.POSITIVE_INFINITY],
    ['count_values by (api) ("n", filer_appliance_up)', Number.POSITIVE_INFINITY],
  ])('%s: %s', (query, most) => {
    expect(of(query)).toBe(most);
  });
});

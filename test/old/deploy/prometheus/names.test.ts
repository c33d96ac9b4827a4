import { describe, expect, test } from 'vitest';
import { groups, groupsOf, recordingRules } from '../../../deploy/prometheus/groups.ts';
import { thresholds } from '../../../deploy/prometheus/thresholds.ts';
import { errorsOf, namesIn } from '../../support/promql.ts';
import { labelsOf } from './named.ts';

const rules = groups.flatMap((group) => group.rules);
const everyLabel = new Set([...labelsOf.values(), 'pod'].flat());

describe('what a rule names', () => {
  test.each(rules.map((rule) => ['alert' in rule ? rule.alert : rule.record, rule.expr]))('%s', (_, expr) => {
    const { selectors, groupings } = namesIn(expr);
    expect(errorsOf(expr)).toEqual([]);
    expect(selectors).not.toEqual([]);
    for (const { name = '', labels } of selectors) {
      expect([...labelsOf.keys()], `a metric of the catalogue, or a recorded one: ${name}`).toContain(name);
      expect(labels.filter((label) => !labelsOf.get(name)?.includes(label))).toEqual([]);
    }
    expect(groupings.flatMap(({ labels }) => labels.filter((label) => !everyLabel.has(label)))).toEqual([]);
  });

  test('a misspelt metric or label does not pass', () => {
    expect(labelsOf.has('filer_uq')).toBe(false);
    const selectors = [{ name: 'filer_api_up', labels: ['apo'] }];
    expect(namesIn('sum without (serail) (filer_api_up{apo="gfa"})')).toEqual({
      selectors,
      groupings: [{ labels: ['serail'], of: selectors }],
    });
    expect(errorsOf('filer_api_up ==')).toHaveLength(1);
  });

  test('what is recorded is recorded before it is read, and read by an alert or worth a panel', () => {
    const earlier = new Set<string>();
    for (const rule of rules) {
      const reads = namesIn(rule.expr).selectors.flatMap(({ name = '' }) => (name.includes(':') ? [name] : []));
      expect(reads.filter((metric) => !earlier.has(metric))).toEqual([]);
      if ('record' in rule) earlier.add(rule.record);
    }
    expect(earlier.size).toBe(recordingRules.length);
  });

  test('what an evaluation costs does not grow with the days kept: only the exporter and the fleet are asked for more than an hour', () => {
    const long = rules.flatMap(({ expr }) =>
      [...expr.matchAll(/([\w:]+)(?:\{[^}]*\})?\[\d+[dw][\]:]/g)].map(([, name]) => name),
    );
    expect(new Set(long)).toEqual(new Set(['filer_exporter_build_info', 'job:filer_appliance_info:count']));
    expect(rules.filter(({ expr }) => /\[(?!1h|15m|1d|1w)|offset/.test(expr))).toEqual([]);
  });

  test.each(Object.keys(thresholds))('the threshold %s is what an alert compares with', (name) => {
    const changed = groupsOf({ ...thresholds, [name]: 987_654 }).flatMap((group) => group.rules);
    expect(changed.filter((rule) => 'alert' in rule && rule.expr.includes('987654'))).not.toEqual([]);
  });
});

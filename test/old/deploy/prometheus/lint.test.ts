// Only here: what mixtool (496ea9a) and pint (75663d6) find in rules without a Prometheus, in our own words.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { alertRules, groups, recordingRules } from '../../../deploy/prometheus/groups.ts';
import type { AlertRule } from '../../../deploy/prometheus/rule.ts';
import { root } from '../../support/program.ts';

const rules = groups.flatMap((group) => group.rules);
const TEMPLATE = /\{\{.+\}\}/;

const MIXTOOL: Readonly<Record<string, (alert: AlertRule) => boolean>> = {
  'alert-name-camelcase': ({ alert }) => /^(?:[A-Z]+[a-z0-9]+)+$/.test(alert),
  'alert-name-length': ({ alert }) => alert.length <= 40,
  'alert-severity-rule': ({ severity }) => ['warning', 'critical', 'info'].includes(severity),
  'alert-description-missing-rule': ({ description }) => description !== '',
  'alert-description-templating': ({ description }) => TEMPLATE.test(description),
  'alert-summary-missing-rule': ({ summary }) => summary !== '',
  'alert-summary-templating': ({ summary }) => !TEMPLATE.test(summary),
  'alert-summary-style': ({ summary }) => /^[A-Z].+\.$/.test(summary),
};

test('the alerts break the rules of mixtool that deploy/mixin/.lint excludes with a reason, and no others', () => {
  const { exclusions } = parse(readFileSync(join(root, 'deploy/mixin/.lint'), 'utf8')) as {
    readonly exclusions: Readonly<Record<string, { readonly entries: readonly { readonly alert: string }[] }>>;
  };
  const excluded = Object.entries(exclusions).flatMap(([rule, { entries }]) =>
    entries.map(({ alert }) => `${rule} ${alert}`),
  );
  const broken = Object.entries(MIXTOOL).flatMap(([rule, holds]) =>
    alertRules.filter((alert) => !holds(alert)).map(({ alert }) => `${rule} ${alert}`),
  );
  expect(broken).toEqual(excluded);
  expect(groups.filter(({ name, rules: { length } }) => name.length > 40 || length > 20)).toEqual([]);
});

const matchersOf = (expr: string) =>
  [...expr.matchAll(/[=!]~"(?<pattern>[^"]*)"/g)].map(({ groups: of }) => of?.pattern);

const PINT: Readonly<Record<string, (rule: (typeof rules)[number]) => boolean>> = {
  'alerts/comparison': (rule) => !('alert' in rule) || /[<>]|[=!]=|\babsent(?:_over_time)?\(/.test(rule.expr),
  'alerts/for': (rule) => !('alert' in rule) || !/^0/.test(rule.for),
  'alerts/template': (rule) =>
    !('alert' in rule) || !/\$value/.test(rule.description) || !/\babsent(?:_over_time)?\(/.test(rule.expr),
  // Such an alert would change its labels, and begin again, with each change of the order.
  'promql/fragile': (rule) => !('alert' in rule) || !/\b(?:topk|bottomk|limitk|limit_ratio)\b/.test(rule.expr),
  'promql/nan': ({ expr }) => !/[<>=]\s*NaN/.test(expr),
  'promql/rate': ({ expr }) => !/\bi?rate\([^()]*\b\w+:\w+:/.test(expr),
  'promql/counter': ({ expr }) =>
    [...expr.matchAll(/(\w+)\(\s*\w+_total\b/g)].every(([, name = '']) => /^(?:i?rate|increase|resets)$/.test(name)),
  'promql/regexp': ({ expr }) =>
    matchersOf(expr).every((pattern = '') => /[.*+?|[(\\]/.test(pattern) && !/^\^|\$$/.test(pattern)),
};

describe('the rules break none of pint', () => {
  test.each(Object.entries(PINT))('%s', (_name, holds) => {
    expect(rules.filter((rule) => !holds(rule))).toEqual([]);
  });

  test('rule/duplicate, rule/name', () => {
    expect(new Set(rules.map((rule) => ('alert' in rule ? rule.alert : rule.record))).size).toBe(rules.length);
    for (const { record } of recordingRules) expect(record).toMatch(/^[a-z_]+:[A-Za-z_]+:[a-z0-9_]+$/);
  });
});

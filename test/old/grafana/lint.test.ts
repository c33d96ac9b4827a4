// Only here: the rules of grafana/dashboard-linter at 4d0844b, in our own words, and which of them the boards break on purpose.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Dashboard } from '../../grafana/src/dashboard.ts';
import { DATA_SOURCE } from '../../grafana/src/variables.ts';
import { dashboards, panelsOf, queriesOf } from '../support/dashboards.ts';
import { root } from '../support/program.ts';

/** Selectors of counters, with the range behind them and the function before them. */
const COUNTER = /(?<before>\w*\(?)\b(?:\w+:)?filer_\w+_total\b(?:\{[^}]*\})?(?<range>\[)?/g;

/** Of the units that we use, the one that the linter does not know. */
const UNKNOWN_UNIT = /^suffix:/;

const RULES: Readonly<Record<string, (dashboard: Dashboard) => boolean>> = {
  'template-datasource-rule': ({ templating }) =>
    templating?.list?.filter(({ type, name, query, label }) => {
      return type === 'datasource' && name === 'datasource' && query === 'prometheus' && label === 'Data source';
    }).length === 1,
  'template-job-rule': (dashboard) => isForAll(dashboard, 'job'),
  'template-instance-rule': (dashboard) => isForAll(dashboard, 'instance'),
  'template-label-promql-rule': (dashboard) =>
    queryVariables(dashboard).every(({ definition = '' }) => /^(?:label_values|query_result)\(.+\)$/.test(definition)),
  'template-on-time-change-reload-rule': (dashboard) => queryVariables(dashboard).every(({ refresh }) => refresh === 2),
  'panel-datasource-rule': (dashboard) =>
    panelsOf(dashboard).every(({ datasource }) => datasource?.uid === DATA_SOURCE.uid),
  'panel-title-description-rule': (dashboard) =>
    panelsOf(dashboard).every(({ title, description }) => Boolean(title) && Boolean(description)),
  'panel-units-rule': (dashboard) =>
    panelsOf(dashboard).every(({ fieldConfig }) => !UNKNOWN_UNIT.test(fieldConfig?.defaults.unit ?? '')),
  'panel-no-targets-rule': (dashboard) => panelsOf(dashboard).every(({ targets = [] }) => targets.length > 0),
  'target-job-rule': (dashboard) => queriesOf(dashboard).every(({ expr }) => expr.includes('job=~"$job"')),
  'target-instance-rule': (dashboard) =>
    queriesOf(dashboard).every(({ expr }) => expr.includes('instance=~"$instance"')),
  'target-rate-interval-rule': (dashboard) =>
    queriesOf(dashboard).every(({ expr }) => !/\bi?rate\([^()]*\[(?!\$__rate_interval\])/.test(expr)),
  'target-counter-agg-rule': (dashboard) =>
    queriesOf(dashboard).every(({ expr }) =>
      [...expr.matchAll(COUNTER)].every(
        ({ groups }) => /^(?:i?rate|increase)\($/.test(groups?.before ?? '') && groups?.range,
      ),
    ),
  'uneditable-dashboard': ({ editable }) => editable === false,
};

function queryVariables({ templating }: Dashboard) {
  return (templating?.list ?? []).filter(({ type }) => type === 'query') as readonly {
    readonly definition?: string;
    readonly refresh?: number;
  }[];
}

function isForAll({ templating }: Dashboard, name: string): boolean {
  return (
    templating?.list?.some((variable) => variable.name === name && variable.multi && variable.allValue === '.+') ===
    true
  );
}

test('the boards break the rules of dashboard-linter that grafana/.lint excludes with a reason, and no others', () => {
  const { exclusions } = parse(readFileSync(join(root, 'grafana', '.lint'), 'utf8')) as {
    readonly exclusions: Readonly<Record<string, { readonly reason?: string }>>;
  };
  const broken = Object.keys(RULES).filter((rule) => !dashboards.every((dashboard) => RULES[rule]?.(dashboard)));
  expect(new Set(Object.keys(exclusions))).toEqual(new Set(broken));
  for (const { reason } of Object.values(exclusions)) expect(reason).toMatch(/\.$/);
});

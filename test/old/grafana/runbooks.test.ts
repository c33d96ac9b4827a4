import type { RowPanel } from '@grafana/grafana-foundation-sdk/dashboard';
import { expect, test } from 'vitest';
import { alertRules } from '../../deploy/prometheus/groups.ts';
import { panelOf } from '../../deploy/prometheus/runbooks.ts';
import { shippedDashboards, textOf } from '../../grafana/src/dashboards.ts';
import { runbookAddress } from '../../grafana/src/places.ts';
import { runbooks } from '../../grafana/src/runbooks.ts';
import { dashboards, isRow, panelsOf } from '../support/dashboards.ts';

const panels = (runbooks().panels ?? []).filter((panel): panel is Exclude<typeof panel, RowPanel> => !isRow(panel));
const ids = panels.map(({ id }) => id);

test('the dashboard Runbooks has a panel for each alert, at the address that its link has', () => {
  expect(new Set(ids).size).toBe(ids.length);
  for (const { alert } of alertRules) {
    const panel = panels.find(({ id }) => id === panelOf(alert));
    expect(panel?.title).toBe(alert);
    expect(panel?.options.content).toMatch(/^\*\*Impact\.\*\*/);
  }
});

test('a link in a runbook leads to another panel', () => {
  const links = panels.flatMap(({ options }) =>
    [...String(options.content).matchAll(/\]\(([^)]*)\)/g)].map(([, address]) => address),
  );
  expect(links.length).toBeGreaterThan(10);
  const addresses = ids.map((id) => runbookAddress(id ?? 0));
  expect(links.filter((address) => !addresses.includes(address ?? ''))).toEqual([]);
});

test('a click on what to do first opens the runbook of that alert', () => {
  const tables = dashboards.flatMap(panelsOf).filter(({ title }) => title?.startsWith('What is broken'));
  expect(tables).toHaveLength(dashboards.length);
  for (const { fieldConfig } of tables) {
    const of = (column: string, property: string) =>
      fieldConfig?.overrides
        .find(({ matcher }) => matcher.options === column)
        ?.properties.find(({ id }) => id === property)?.value;
    expect(of('Do first', 'links')).toMatchObject([{ url: runbookAddress(`$\{__data.fields.Runbook.text}`) }]);
    for (const [alert, { text }] of Object.entries<{ text: string }>(of('Runbook', 'mappings')[0].options)) {
      expect(text).toBe(`${panelOf(alert)}`);
    }
  }
});

test('no dashboard links to an example', () => {
  expect(shippedDashboards().map(textOf).join('\n')).not.toMatch(/\]\(https?:|"https?:\/\/[^"]*example/);
});

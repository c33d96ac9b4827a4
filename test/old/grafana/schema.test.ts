import { Ajv } from 'ajv';
import { beforeAll, describe, expect, test } from 'vitest';
import { textOf } from '../../grafana/src/dashboards.ts';
import { dashboards } from '../support/dashboards.ts';
import { dashboardSchema } from './model.ts';

/*
 * Of the two checks that there could be, dashboards opened in a real Grafana or held against its schema, this is the
 * second: no Grafana server is to be had where these tests run. The types of Grafana's Foundation SDK are the other half.
 */

const matches = new Ajv({ allErrors: true, allowUnionTypes: true, discriminator: true }).compile(dashboardSchema);

function errorsOf(dashboard: unknown): readonly string[] {
  if (matches(dashboard)) return [];
  return (matches.errors ?? []).map(({ instancePath, message, params }) => {
    return `${instancePath} ${message} ${JSON.stringify(params)}`;
  });
}

describe('Grafana’s dashboard model', () => {
  beforeAll(() => {
    process.stdout.write(
      'grafana: no Grafana server here; the dashboards were validated against its schema and the types of its SDK\n',
    );
  });

  test.each(dashboards.map((dashboard) => [dashboard.uid, dashboard] as const))('takes %s', (_uid, dashboard) => {
    expect(errorsOf(JSON.parse(textOf(dashboard)))).toEqual([]);
  });

  test.each([
    ['a panel without a title', (copy: Copy) => void delete copy.panels[0]?.title],
    ['a property that Grafana would pass over', (copy: Copy) => Object.assign(copy.panels[0] ?? {}, { legned: true })],
    ['a panel that leaves the grid', (copy: Copy) => Object.assign(copy.panels[0]?.gridPos ?? {}, { x: 24 })],
    ['a query without an expression', (copy: Copy) => void delete copy.panels[0]?.targets[0]?.expr],
    ['thresholds without a step', (copy: Copy) => Object.assign(copy, { panels: [thresholdless(copy)] })],
    ['another schema version', (copy: Copy) => Object.assign(copy, { schemaVersion: 16 })],
  ])('refuses %s', (_what, spoil) => {
    const copy = JSON.parse(JSON.stringify(dashboards[0])) as Copy;
    expect(errorsOf(copy)).toEqual([]);
    spoil(copy);
    expect(errorsOf(copy)).not.toEqual([]);
  });
});

interface Copy {
  readonly panels: {
    title?: string;
    readonly gridPos: object;
    readonly targets: { expr?: string }[];
    readonly fieldConfig: { readonly defaults: { readonly thresholds: object } };
  }[];
}

function thresholdless({ panels }: Copy): object {
  const [panel] = panels;
  Object.assign(panel?.fieldConfig.defaults.thresholds ?? {}, { steps: [] });
  return panel ?? {};
}

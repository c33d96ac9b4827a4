import { allVariables } from './config/load.ts';
import type { NamedVariable } from './config/table.ts';
import { exporterFamilies } from './exposition/exporter/table.ts';
import {
  extraLabelNames,
  type Family,
  fieldNames,
  isEveryOtherField,
  type MetricType,
  type Table,
} from './metrics/family.ts';
import { services } from './services/services.ts';

/** One metric, for HELP, the reference in docs/metrics.md, dashboards and tests. */
export interface CatalogEntry {
  readonly name: string;
  readonly help: string;
  readonly type: MetricType;
  /** The base unit; undefined for numbers of things, states and infos. */
  readonly unit: string | undefined;
  /** Every label, in the order of the exposition. */
  readonly labels: readonly string[];
  /** The operation and the fields, in the service's own spelling. */
  readonly source: readonly string[];
}

/** Every metric of the data of the services, one entry for each name, in the order of the exposition. */
export const upstreamCatalog: readonly CatalogEntry[] = merge(services.flatMap(({ tables }) => tables));

/** Every metric, of the services and of the exporter itself. */
export const catalog: readonly CatalogEntry[] = [
  ...upstreamCatalog,
  ...exporterFamilies(services.flatMap(({ ownMetrics = [] }) => ownMetrics)).map((family) => ({
    ...family,
    source: ['the exporter'],
  })),
];

export const variableRows: readonly NamedVariable[] = allVariables(services.map(({ section }) => section));

function merge(tables: readonly Table[]): readonly CatalogEntry[] {
  const entries = new Map<string, CatalogEntry>();
  for (const { source, commonLabels, families } of tables) {
    for (const family of families) {
      const fields = isEveryOtherField(family.fields) ? 'every numeric field' : fieldNames(family).join(', ');
      const existing = entries.get(family.name);
      entries.set(family.name, {
        name: family.name,
        help: family.help,
        type: family.type ?? 'gauge',
        unit: unitOf(family),
        labels: [...new Set([...(existing?.labels ?? commonLabels), ...extraLabelNames(family)])],
        source: [...(existing?.source ?? []), fields === '' ? source : `${source}: ${fields}`],
      });
    }
  }
  return [...entries.values()];
}

function unitOf({ from: { unit } }: Family): string | undefined {
  if (unit === 'none' || unit === 'info') return undefined;
  return unit === 'timestamp_seconds' ? 'seconds' : unit;
}

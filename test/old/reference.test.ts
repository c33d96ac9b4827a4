import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type CatalogEntry, catalog } from '../src/catalog.ts';
import { exampleOf, ownExamples } from './support/examples.ts';
import { root } from './support/program.ts';
import { errorsOf, namesIn } from './support/promql.ts';
import { costText } from './support/reference.ts';
import { metricsOf, usageOf } from './support/usage.ts';

function entry(name: string): CatalogEntry {
  const found = catalog.find((each) => each.name === name);
  if (found === undefined) throw new Error(`expected ${name} in the catalogue`);
  return found;
}

describe('the example of each metric', () => {
  test.each(catalog.map((each) => [each.name, each] as const))('%s is PromQL, and is about it', (name, each) => {
    const query = exampleOf(each);
    expect(errorsOf(query)).toEqual([]);
    expect(metricsOf(query)).toContain(name);
    const labels = new Set([...metricsOf(query)].flatMap((metric) => entry(metric).labels));
    const { selectors, groupings } = namesIn(query);
    const used = [...selectors, ...groupings].flatMap((part) => part.labels);
    expect(used.filter((label) => !labels.has(label) && !['le', 'job', 'instance'].includes(label))).toEqual([]);
  });

  test('that is written by hand is of a metric that there is', () => {
    expect(ownExamples.filter((name) => !catalog.some((each) => each.name === name))).toEqual([]);
  });
});

describe('the name follows the naming pages of Prometheus', () => {
  test.each(catalog.map(({ name, type, labels }) => [name, type, labels] as const))('%s', (name, type, labels) => {
    expect(name).toMatch(/^filer(?:_[a-z0-9]+)+$/);
    expect(name.endsWith('_total')).toBe(type === 'counter');
    // Base units, and no suffix of the parts of a histogram.
    expect(name).not.toMatch(
      /_(?:ms|milliseconds|minutes|hours|days|percent|bits|k?i?b|count|sum|bucket|created)(?:_total)?$/,
    );
    expect(name).toMatch(/^(?!.*timestamp)|_timestamp_seconds$/);
    expect(labels.filter((label) => /^(?:le|quantile|job|instance|__.*)$/.test(label))).toEqual([]);
    // Its series exist from the start, which those with all labels cannot.
    const isExempt = name === 'filer_notifications_by_severity_total';
    expect(labels.filter((label) => name.includes(`_by_${label}`))).toEqual(isExempt ? ['severity'] : []);
  });
});

test('the newest entry of CHANGELOG.md says how many metrics there are', () => {
  const [, told] = /exposes (\d+) metrics/.exec(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')) ?? [];
  expect(Number(told), 'CHANGELOG.md: write the number, and a line about what is new').toBe(catalog.length);
});

describe('what a metric costs', () => {
  test.each([
    ['filer_account_info', '1 in all'],
    ['filer_volume_time_to_protect_seconds', '1 a volume'],
    ['filer_appliance_memory_bytes', '3 an appliance'],
    ['filer_appliance_up', '1 an appliance'],
    ['filer_appliance_series_timestamp_seconds', '1 an appliance and series'],
    ['filer_appliance_disk_iops', '8 an appliance'],
    ['filer_appliance_load_average', '1 an appliance, for each `window`'],
    ['filer_propagation_duration_seconds', '1 histogram a filer and volume, for each `kind`'],
    ['filer_exporter_samples', '1 in all'],
    ['filer_exporter_requests_total', '1 for each `api`, `operation`, `code`'],
  ])('%s: %s', (name, text) => {
    expect(costText(entry(name))).toBe(text);
  });
});

describe('where a metric is used', () => {
  test('is told by what panels and alerts ask, through recorded series too', () => {
    const { panels, alerts, recorded } = usageOf('filer_last_checkin_timestamp_seconds');
    expect(panels.size).toBeGreaterThan(0);
    expect(recorded).toContain('filer:last_checkin_age:seconds');
    expect(alerts.map(({ alert }) => alert)).not.toEqual([]);
    expect(metricsOf('max(volume_filer:filer_propagation_duration_seconds:p90_rate1h)')).toEqual(
      new Set(['filer_propagation_duration_seconds']),
    );
  });

  test('is somewhere for every alert: none asks only for what the exporter does not have', () => {
    const used = new Set(catalog.flatMap(({ name }) => usageOf(name).alerts.map(({ alert }) => alert)));
    expect(used.size).toBeGreaterThan(20);
  });
});

import { catalog } from '../../src/catalog.ts';
import { recorded } from './catalogue.ts';

const sources: ReadonlyMap<string, string> = new Map(catalog.map(({ name, source }) => [name, source[0] ?? '']));

/** Why queries may give nothing, in words: which service, collector or rule they need. */
export function reasonForNothing(queries: readonly string[]): string {
  const names = queries.flatMap((query) => query.match(/[a-z_]+(?::[\w:]+)?(?=\{)/gi) ?? []);
  if (names.some((name) => recorded.some((rule) => rule.name === name))) {
    return 'nothing known: a service is down, not configured or off, or the rules are not loaded';
  }
  const found = names.map((name) => sources.get(name.replace(/_(?:bucket|sum|count)$/, '')) ?? sources.get(name) ?? '');
  if (found.some((source) => source.startsWith('GET /data'))) {
    return 'nothing known: file acceleration is down or not configured, or reports none';
  }
  if (found.every((source) => source === 'the exporter' || source === ''))
    return 'nothing known: the exporter does not measure it yet, or is down';
  return 'nothing known: the portal is down or not configured, a collector is off, or the appliance is off';
}

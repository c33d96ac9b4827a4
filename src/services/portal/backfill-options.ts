import { ConfigError } from '../../runtime/errors.ts';
import { likelyTypo } from '../../runtime/suggest.ts';
import { additionalSeries, standardSeries } from './appliances/series-families.ts';
import { STANDARD_SERIES } from './appliances/series-operations.ts';
import type { PortalConfig } from './configuration.ts';

const WITH_HISTORY: readonly string[] = Object.keys({ ...standardSeries, ...additionalSeries });

/** Only these series, or all that are polled and have a history. Throws a ConfigError for one that has none. */
export function backfillOptions(portal: PortalConfig, chosen: readonly string[] | undefined): PortalConfig {
  const faults = (chosen ?? []).flatMap((name) => {
    if (WITH_HISTORY.includes(name)) return [];
    const meant = likelyTypo(name, WITH_HISTORY);
    const hint = meant === undefined ? `expected some of ${WITH_HISTORY.join(', ')}` : `did you mean ${meant}?`;
    return [`--series: ${JSON.stringify(name)} is not a series with a history; ${hint}`];
  });
  if (faults.length > 0) throw new ConfigError(faults);
  const polled = portal.seriesByMode.full.map(({ name }) => name);
  const names = chosen ?? (polled.length === 0 ? STANDARD_SERIES : polled);
  return {
    ...portal,
    mode: 'full',
    series: WITH_HISTORY.filter((name) => names.includes(name)).map((name) => ({
      name,
      intervalMs: portal.intervalMs,
    })),
    collectors: [],
    readsEarlierBuilds: true,
  };
}

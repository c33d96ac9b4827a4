import { ConfigError } from '../../runtime/errors.ts';
import { likelyTypo } from '../../runtime/suggest.ts';
import { additionalSeries, standardSeries } from './appliances/series-families.ts';
import { STANDARD_SERIES } from './appliances/series-operations.ts';
import type { PortalSettings } from './configuration.ts';

const SERIES_WITH_HISTORY: readonly string[] = Object.keys({ ...standardSeries, ...additionalSeries });

/** The settings of a backfill: it reads the chosen series, or every polled series that has a history. Throws a ConfigError if a chosen series has none. */
export function backfillSettings(portal: PortalSettings, chosen: readonly string[] | undefined): PortalSettings {
  const errors = (chosen ?? []).flatMap((name) => {
    if (SERIES_WITH_HISTORY.includes(name)) return [];
    const meant = likelyTypo(name, SERIES_WITH_HISTORY);
    const hint = meant === undefined ? `expected some of ${SERIES_WITH_HISTORY.join(', ')}` : `did you mean ${meant}?`;
    return [`--series: ${JSON.stringify(name)} is not a series with a history; ${hint}`];
  });
  if (errors.length > 0) throw new ConfigError(errors);
  const polled = portal.seriesByMode.full.map(({ name }) => name);
  const names = chosen ?? (polled.length === 0 ? STANDARD_SERIES : polled);
  return {
    ...portal,
    mode: 'full',
    series: SERIES_WITH_HISTORY.filter((name) => names.includes(name)).map((name) => ({
      name,
      intervalMs: portal.intervalMs,
    })),
    collectors: [],
    readsEarlierBuilds: true,
  };
}

import { additionalSeries, standardSeries } from '../../src/services/portal/appliances/series-families.ts';

/** The names of the series that remote write sends. */
export const sentMetrics: ReadonlySet<string> = new Set(
  [...Object.values(standardSeries), ...Object.values(additionalSeries)].flatMap((families) =>
    families.map(({ name }) => name),
  ),
);

import { collectorRows } from './collectors.ts';
import { COSTLY_SERIES, FURTHER_SERIES, STANDARD_SERIES } from './operations.ts';

/** The names of series and collectors that the configuration may use, with the intervals of those that have their own. */
export const portalVocabulary = {
  standardSeries: STANDARD_SERIES,
  furtherSeries: FURTHER_SERIES,
  costlySeries: COSTLY_SERIES,
  collectors: [
    { name: 'telemetry', intervalMs: undefined },
    ...collectorRows.map(({ name, intervalMs }) => ({ name, intervalMs })),
  ],
} as const;

import {
  COSTLY_SERIES,
  ECONOMY_REPLACES,
  ECONOMY_SERIES,
  FURTHER_SERIES,
  STANDARD_SERIES,
} from './appliances/operations.ts';
import { collectorRows } from './collectors.ts';

/** The names of series and collectors that the configuration may use, with the intervals of those that have their own. */
export const portalVocabulary = {
  standardSeries: STANDARD_SERIES,
  furtherSeries: FURTHER_SERIES,
  costlySeries: COSTLY_SERIES,
  economy: { series: ECONOMY_SERIES, replaces: ECONOMY_REPLACES },
  collectors: [
    { name: 'telemetry', intervalMs: undefined },
    ...collectorRows.map(({ name, intervalMs }) => ({ name, intervalMs })),
  ],
} as const;

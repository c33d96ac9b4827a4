import {
  COSTLY_SERIES,
  ECONOMY_REPLACES,
  ECONOMY_SERIES,
  FURTHER_SERIES,
  STANDARD_SERIES,
} from './appliances/operations.ts';
import { collectorRows } from './collectors.ts';

/** The names of series and collectors that the configuration may use. */
export const portalVocabulary = {
  /** The default of `PORTAL_SERIES`. */
  standardSeries: STANDARD_SERIES,
  furtherSeries: FURTHER_SERIES,
  /** The series that are polled only when named, not with `all`, each with its interval. */
  costlySeries: COSTLY_SERIES,
  /** The one series of the economy mode with the short interval, and the series that it replaces. */
  economy: { series: ECONOMY_SERIES, replaces: ECONOMY_REPLACES },
  /** The collectors that `PORTAL_COLLECTORS` may name, each with its interval; undefined for `PORTAL_INTERVAL`. */
  collectors: [
    { name: 'telemetry', intervalMs: undefined },
    ...collectorRows.map(({ name, intervalMs }) => ({ name, intervalMs })),
  ],
};

export type Vocabulary = typeof portalVocabulary;

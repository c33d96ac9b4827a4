import {
  COSTLY_SERIES,
  ECONOMY_REPLACES,
  ECONOMY_SERIES,
  FURTHER_SERIES,
  STANDARD_SERIES,
} from './appliances/operations.ts';
import { collectorRows } from './collectors.ts';

/**
 * The names of series and collectors that the configuration may use, with the intervals of those that have their own.
 */
export interface Vocabulary {
  /** The default of `PORTAL_SERIES`. */
  readonly standardSeries: readonly string[];
  readonly furtherSeries: readonly string[];
  /** The series that are polled only when named, not with `all`, each with its interval. */
  readonly costlySeries: Readonly<Record<string, number>>;
  /** The one series of the economy mode with the short interval, and the series that it replaces. */
  readonly economy: { readonly series: string; readonly replaces: readonly string[] };
  /** The collectors that `PORTAL_COLLECTORS` may name, each with its interval; undefined for `PORTAL_INTERVAL`. */
  readonly collectors: readonly { readonly name: string; readonly intervalMs: number | undefined }[];
}

export const portalVocabulary: Vocabulary = {
  standardSeries: STANDARD_SERIES,
  furtherSeries: FURTHER_SERIES,
  costlySeries: COSTLY_SERIES,
  economy: { series: ECONOMY_SERIES, replaces: ECONOMY_REPLACES },
  collectors: [
    { name: 'telemetry', intervalMs: undefined },
    ...collectorRows.map(({ name, intervalMs }) => ({ name, intervalMs })),
  ],
};

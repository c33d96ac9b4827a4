import type { Family, JsonObject } from '../../../metrics/family.ts';
import type { ReportDrop } from '../../../metrics/samples.ts';
import { parseDecimal } from '../../../metrics/units.ts';
import { objectOrEmpty, objectsOrEmpty, readMinutes, recordTime, requireObject } from '../records.ts';
import { additionalSeries, currentPerformance, healthScore, standardSeries } from './series-families.ts';

export interface Operation {
  readonly families: readonly Family[];
  /** Whether the records are minutes, so that each is a point for history. */
  readonly hasHistory: boolean;
  /** The body of a request. `period` is in ISO 8601. */
  readonly body: (period: string, binSeconds: number) => JsonObject;
  /** The records of a response, newest first. Throws if a body is not a response of this operation, or is too large. */
  readonly records: (body: unknown, reportDrop: ReportDrop) => readonly JsonObject[];
}

const ofMinutes = (families: readonly Family[]): Operation => ({
  families,
  hasHistory: true,
  body: (period, bin_size) => ({ period, bin_size }),
  records: readMinutes,
});

/** Every series by the path segment of its operation. */
export const seriesOperations: Readonly<Record<string, Operation>> = {
  ...Object.fromEntries(
    Object.entries({ ...standardSeries, ...additionalSeries }).map(([name, families]) => [name, ofMinutes(families)]),
  ),
  current_appliance_performance: {
    families: currentPerformance,
    hasHistory: false,
    body: () => ({ period: 'PT30M' }),
    records: (body) => [requireObject(body, 'current_appliance_performance')],
  },
  appliance_health_score: {
    families: healthScore,
    hasHistory: false,
    body: () => ({ period: 'PT1H' }),
    records: (body) => [readHealth(requireObject(body, 'appliance_health_score'))],
  },
};

export const STANDARD_SERIES: readonly string[] = Object.keys(standardSeries);

/** The standard series, and those that `PORTAL_SERIES` adds by name, or with `all` except {@link EXPENSIVE_SERIES}. */
export const ALL_SERIES: readonly string[] = Object.keys(seriesOperations);

/** Series that cost the service much and are therefore polled only if named, with their default interval in milliseconds. */
export const EXPENSIVE_SERIES: Readonly<Record<string, number>> = { appliance_health_score: 1_800_000 };

/**
 * The families of a series beside the other chosen ones. If `current_appliance_performance` has the same value as another
 * chosen series, only that series exposes it, because its minutes are finer than a mean over half an hour. Exposed from both
 * in turn, the value would jump between two means.
 */
export function familiesOf(name: string, chosen: readonly string[]): readonly Family[] {
  const { families = [] } = seriesOperations[name] ?? {};
  if (families !== currentPerformance) return families;
  const others = chosen.filter((other) => other !== name).flatMap((other) => seriesOperations[other]?.families ?? []);
  return families.filter((family) => !others.some((other) => other.name === family.name));
}

/** The record of `appliance_health_score`. The portal sends the score as a number, as a number in a string, or as a word, which becomes the status. */
function readHealth({ health_score, description, raw_data }: JsonObject): JsonObject {
  const points = objectsOrEmpty(objectOrEmpty(raw_data).data).filter((point) => recordTime(point) !== undefined);
  const isNumber = parseDecimal(health_score) !== undefined;
  return {
    health_score: isNumber ? health_score : undefined,
    health_status: objectOrEmpty(description).health_status ?? (isNumber ? undefined : health_score),
    time: points.toSorted((first, second) => (recordTime(second) ?? 0) - (recordTime(first) ?? 0))[0]?.time,
  };
}

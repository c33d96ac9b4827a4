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

export const STANDARD_SERIES: readonly string[] = Object.keys(standardSeries);

/** The series that `PORTAL_SERIES` adds by name, or with `all` except {@link EXPENSIVE_SERIES}. */
export const ADDITIONAL_SERIES: readonly string[] = [
  ...Object.keys(additionalSeries),
  'current_appliance_performance',
  'appliance_health_score',
];

/** Series that cost the service much and are therefore polled only if named, with their default interval in milliseconds. */
export const EXPENSIVE_SERIES: Readonly<Record<string, number>> = { appliance_health_score: 1_800_000 };

const tables: Readonly<Record<string, readonly Family[]>> = { ...standardSeries, ...additionalSeries };

/**
 * The operations for the chosen series. If `current_appliance_performance` has the same value as another chosen series,
 * only that series exposes it, because its minutes are finer than a mean over half an hour. Exposed from both in turn, the
 * value would jump between two means.
 */
export function operationsFor(chosen: readonly string[]): ReadonlyMap<string, Operation> {
  const coveredFamilies = new Set(chosen.flatMap((name) => (tables[name] ?? []).map((family) => family.name)));
  const operations = new Map<string, Operation>();
  for (const name of chosen) {
    const families = tables[name];
    if (families !== undefined) {
      operations.set(name, {
        families,
        hasHistory: true,
        body: (period, binSeconds) => ({ period, bin_size: binSeconds }),
        records: readMinutes,
      });
    } else if (name === 'current_appliance_performance') {
      operations.set(name, {
        families: currentPerformance.filter((family) => !coveredFamilies.has(family.name)),
        hasHistory: false,
        body: () => ({ period: 'PT30M' }),
        records: (body) => [requireObject(body, name)],
      });
    } else if (name === 'appliance_health_score') {
      operations.set(name, {
        families: healthScore,
        hasHistory: false,
        body: () => ({ period: 'PT1H' }),
        records: (body) => [readHealth(requireObject(body, name))],
      });
    }
  }
  return operations;
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

import { type Family, isEveryOtherField, type JsonObject } from '../../../metrics/family.ts';
import type { ReportDrop } from '../../../metrics/samples.ts';
import { parseDecimal } from '../../../metrics/units.ts';
import { checkSeries, newestFirst, objectOrEmpty, objectsOrEmpty, recordTime, requireObject } from '../records.ts';
import { additionalSeries, currentPerformance, healthScore, loadWindow, standardSeries } from './series-families.ts';

export interface Operation {
  readonly families: readonly Family[];
  /** Whether its records are minutes: then each record is a point of the past, not only the newest one. */
  readonly hasHistory: boolean;
  /** `period`: in ISO 8601. */
  readonly body: (period: string, binSeconds: number) => JsonObject;
  /** Throws if a body is not such a response, or too large for one; does not check the records. */
  readonly check: (body: unknown) => unknown;
  /** Newest first. */
  readonly records: (body: unknown, note: ReportDrop) => readonly JsonObject[];
}

export const STANDARD_SERIES: readonly string[] = Object.keys(standardSeries);

/** The series that `PORTAL_SERIES` adds by name, or with `all` except {@link EXPENSIVE_SERIES}. */
export const ADDITIONAL_SERIES: readonly string[] = [
  ...Object.keys(additionalSeries),
  'current_appliance_performance',
  'appliance_health_score',
];

/** Polled only when named, each with its interval in milliseconds, as they cost the service much. */
export const EXPENSIVE_SERIES: Readonly<Record<string, number>> = { appliance_health_score: 1_800_000 };

export const ECONOMY_SERIES: string = 'current_appliance_performance';

/** Their responses have no minutes. */
export const WITHOUT_HISTORY: readonly string[] = [ECONOMY_SERIES, 'appliance_health_score'];

const tables: Readonly<Record<string, readonly Family[]>> = { ...standardSeries, ...additionalSeries };

/** The series that {@link ECONOMY_SERIES} replaces entirely: the economy mode does not poll them. */
export const ECONOMY_REPLACES: readonly string[] = ['cpu_utilization'];

/**
 * The operations for a choice of series. If two operations could give a sample, only one does: normally the series of
 * its own, whose minutes are finer than a mean over half an hour; in economy mode `current_appliance_performance`,
 * which is polled more often. A value from both in turn would jump between the two means, and the longer interval would
 * decide when it is stale.
 */
export function operationsFor(chosen: readonly string[], isEconomy = false): ReadonlyMap<string, Operation> {
  const given = new Set(chosen.flatMap((name) => (tables[name] ?? []).map((family) => family.name)));
  const operations = new Map<string, Operation>();
  for (const name of chosen) {
    const families = tables[name];
    if (families !== undefined && isEconomy && name === 'load_average') {
      operations.set(name, { ...minutes, families: shortLoad, records: withoutLongLoad });
    } else if (families !== undefined && (!isEconomy || !ECONOMY_REPLACES.includes(name))) {
      operations.set(name, { ...minutes, families, records: newestFirst });
    } else if (name === ECONOMY_SERIES) {
      const left = isEconomy ? currentPerformance : currentPerformance.filter((family) => !given.has(family.name));
      operations.set(name, {
        families: left,
        hasHistory: false,
        body: () => ({ period: 'PT30M' }),
        check: currentOf,
        records: (answer) => [currentOf(answer)],
      });
    } else if (name === 'appliance_health_score') {
      operations.set(name, {
        families: healthScore,
        hasHistory: false,
        body: () => ({ period: 'PT1H' }),
        check: healthOf,
        records: readHealth,
      });
    }
  }
  return operations;
}

/** The load over one and five minutes, which no other operation has. */
const shortLoad: readonly Family[] = standardSeries.load_average.filter(({ fields }) => isEveryOtherField(fields));

function withoutLongLoad(body: unknown, note: ReportDrop): readonly JsonObject[] {
  const isLeft = (field: string) => field !== 'num_cores' && loadWindow(field) !== '15m';
  return newestFirst(body, note).map((record) =>
    Object.fromEntries(Object.entries(record).filter(([field]) => isLeft(field))),
  );
}

const minutes: Pick<Operation, 'hasHistory' | 'body' | 'check'> = {
  hasHistory: true,
  body: (period, binSeconds) => ({ period, bin_size: binSeconds }),
  check: checkSeries,
};

const currentOf = (body: unknown): JsonObject => requireObject(body, 'current_appliance_performance');

const healthOf = (body: unknown): JsonObject => requireObject(body, 'appliance_health_score');

/** `appliance_health_score`: the score is a number, a number as text, or a word; a word is not a missing number. */
function readHealth(body: unknown): readonly JsonObject[] {
  const { health_score, description, raw_data } = healthOf(body);
  const points = objectsOrEmpty(objectOrEmpty(raw_data).data).filter((point) => recordTime(point) !== undefined);
  return [
    {
      health_score: parseDecimal(health_score) === undefined ? undefined : health_score,
      health_status:
        objectOrEmpty(description).health_status ??
        (parseDecimal(health_score) === undefined ? health_score : undefined),
      time: points.toSorted((one, other) => (recordTime(other) ?? 0) - (recordTime(one) ?? 0))[0]?.time,
    },
  ];
}

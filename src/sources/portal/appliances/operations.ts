import { type Family, type Fields, isEveryOtherField } from '../../../metrics/family.ts';
import type { NoteDrop } from '../../../metrics/samples.ts';
import { decimal } from '../../../metrics/units.ts';
import { fieldsIn, itemsOf, newestFirst, objectOf, recordsIn, secondsOf } from '../records.ts';
import { currentPerformance, furtherSeries, healthScore, loadWindow, standardSeries } from './series.ts';

export interface Operation {
  readonly families: readonly Family[];
  /** Whether its records are minutes: then each record is a point of the past, not only the newest one. */
  readonly hasHistory: boolean;
  /** `period`: in ISO 8601. */
  readonly body: (period: string, binSeconds: number) => Fields;
  /** Throws a ShapeError if a body is not such an answer; does not check the records. */
  readonly check: (body: unknown) => unknown;
  /** Newest first. */
  readonly records: (body: unknown, note: NoteDrop) => readonly Fields[];
}

export const STANDARD_SERIES: readonly string[] = Object.keys(standardSeries);

/** The series that `PORTAL_SERIES` adds by name, or with `all` except {@link COSTLY_SERIES}. */
export const FURTHER_SERIES: readonly string[] = [
  ...Object.keys(furtherSeries),
  'current_appliance_performance',
  'appliance_health_score',
];

/** Polled only when named, each with its interval in milliseconds, as they cost the service much. */
export const COSTLY_SERIES: Readonly<Record<string, number>> = { appliance_health_score: 1_800_000 };

export const ECONOMY_SERIES: string = 'current_appliance_performance';

const tables: Readonly<Record<string, readonly Family[]>> = { ...standardSeries, ...furtherSeries };

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
        ...{ families: left, hasHistory: false, body: () => ({ period: 'PT30M' }) },
        ...{ check: currentOf, records: (answer) => [currentOf(answer)] },
      });
    } else if (name === 'appliance_health_score') {
      operations.set(name, {
        ...{ families: healthScore, hasHistory: false, body: () => ({ period: 'PT1H' }) },
        ...{ check: healthOf, records: readHealth },
      });
    }
  }
  return operations;
}

/** The load over one and five minutes, which no other operation has. */
const shortLoad: readonly Family[] = standardSeries.load_average.filter(({ fields }) => isEveryOtherField(fields));

function withoutLongLoad(body: unknown, note: NoteDrop): readonly Fields[] {
  const isLeft = (field: string) => field !== 'num_cores' && loadWindow(field) !== '15m';
  return newestFirst(body, note).map((record) =>
    Object.fromEntries(Object.entries(record).filter(([field]) => isLeft(field))),
  );
}

const minutes: Pick<Operation, 'hasHistory' | 'body' | 'check'> = {
  hasHistory: true,
  body: (period, binSeconds) => ({ period, bin_size: binSeconds }),
  check: (answer) => itemsOf(answer, 'the series'),
};

const currentOf = (body: unknown): Fields => objectOf(body, 'current_appliance_performance');

const healthOf = (body: unknown): Fields => objectOf(body, 'appliance_health_score');

/** `appliance_health_score`: the score is a number, a number as text, or a word; a word is not a missing number. */
function readHealth(body: unknown): readonly Fields[] {
  const { health_score, description, raw_data } = healthOf(body);
  const points = recordsIn(fieldsIn(raw_data).data).filter((point) => secondsOf(point) !== undefined);
  return [
    {
      health_score: decimal(health_score) === undefined ? undefined : health_score,
      health_status:
        fieldsIn(description).health_status ?? (decimal(health_score) === undefined ? health_score : undefined),
      time: points.toSorted((one, other) => (secondsOf(other) ?? 0) - (secondsOf(one) ?? 0))[0]?.time,
    },
  ];
}

import { type Family, type JsonObject, type Labels, OTHER } from '../../metrics/family.ts';
import { Histogram } from '../../metrics/histogram.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';
import { parseDecimal } from '../../metrics/units.ts';
import { getOrCreate } from '../../runtime/maps.ts';
import * as families from './families.ts';
import {
  type CurrentRecord,
  confirmRecord,
  isNewer,
  restoreRecord,
  type SavedRecord,
  savedRecord,
  type TimedRecord,
} from './timed-record.ts';

/** The most statistics of a filer on a volume; beyond that, new label values are `other`. Each has records or a histogram. */
const MAX_STATISTICS = 26;

/** The families that show a statistic: the newest event, the newest event with a duration, all durations, and a number. */
interface StatisticFamilies {
  readonly newest?: Family;
  readonly latest?: Family;
  readonly durations?: Family;
  readonly total?: Family;
}

/** Of what there are statistics: each group of events, each kind of propagation, each phase of a lock, and each of its states. */
const STATISTICS = {
  group: { newest: families.recordTimestamp },
  kind: { latest: families.propagationLatest, durations: families.propagationDuration, total: families.dataProtected },
  phase: { newest: families.lockState, durations: families.lockDuration },
  state: { newest: families.lockTimestamp, latest: families.lockLatest, total: families.lockEvents },
} as const satisfies Record<string, StatisticFamilies>;

type Subject = keyof typeof STATISTICS;

interface Statistic {
  readonly subject: Subject;
  readonly labels: Labels;
  newest?: TimedRecord | undefined;
  latest?: TimedRecord | undefined;
  durations?: Histogram | undefined;
  total?: number | undefined;
}

/** Returns the newer of the present event and an earlier one. */
type Newer = (before: TimedRecord | undefined) => TimedRecord | undefined;

export type SavedStatistic = readonly [
  subject: Subject,
  labels: Labels,
  newest: SavedRecord | null,
  latest: SavedRecord | null,
  hasDurations: boolean,
  hasTotal: boolean,
];

/** The labels of a filer on a volume; the volume's are empty for a filer alone, the filer's for a volume alone. */
type PairLabels = Readonly<Record<(typeof families.pairLabels)[number], string>>;

/** The state of one filer on one volume, of a filer alone, or of a volume alone: this folder calls each of them a pair. */
export class FilerVolume {
  readonly filer: string;
  readonly volume: string;
  current: CurrentRecord | undefined;
  readonly #bounds: readonly number[];
  readonly #statistics = new Map<string, Statistic>();

  constructor(filer: string, volume: string, bounds: readonly number[]) {
    this.filer = filer;
    this.volume = volume;
    this.#bounds = bounds;
  }

  get key(): string {
    return pairKey(this.filer, this.volume);
  }

  /** The families of the current record. */
  get table(): readonly Family[] {
    if (this.filer === '') return families.volumeTable;
    return this.volume === '' ? families.filerTable : families.filerOnVolumeTable;
  }

  setCurrent(timed: TimedRecord, now: number, onDuplicate: () => void): void {
    this.current = confirmRecord(this.current, timed, now, onDuplicate);
  }

  /** `responseReportedAt`: the time that the response reports as its own, in Unix seconds. */
  addEvent(
    group: families.EventGroup,
    event: TimedRecord,
    isNew: boolean,
    responseReportedAt: number,
    reportDrop: ReportDrop = () => {},
  ): void {
    const filerRecord = this.current?.timed;
    const reportedNow =
      filerRecord?.response === event.response
        ? Math.min(filerRecord.reportedAt, responseReportedAt)
        : responseReportedAt;
    const newer = (before: TimedRecord | undefined) => (isNewer(event, before, reportedNow) ? event : before);
    const ofGroup = this.#statistic('group', { group });
    ofGroup.newest = newer(ofGroup.newest);
    if (group === 'locks') this.#addLock(event, isNew, newer, reportDrop);
    else this.#addPropagation(event, isNew, newer, reportDrop);
  }

  #addPropagation({ record }: TimedRecord, isNew: boolean, newer: Newer, reportDrop: ReportDrop): void {
    const kind = this.#admittedStatistic('kind', {}, record, 'kind', reportDrop);
    const duration = families.propagationDuration.from.read(record.prop_seconds);
    if (duration !== undefined) kind.latest = newer(kind.latest);
    if (!isNew) return;
    this.#observe(kind, duration);
    const covered = parseDecimal(record.data_protected);
    if (covered !== undefined && covered >= 0) kind.total = Math.min(Number.MAX_VALUE, (kind.total ?? 0) + covered);
  }

  #addLock({ record }: TimedRecord, isNew: boolean, newer: Newer, reportDrop: ReportDrop): void {
    const phase = this.#admittedStatistic('phase', {}, record, 'lock_phase', reportDrop);
    const state = this.#admittedStatistic('state', phase.labels, record, 'lock_state', reportDrop);
    const duration = families.lockDuration.from.read(record.lock_duration);
    phase.newest = newer(phase.newest);
    state.newest = newer(state.newest);
    if (duration !== undefined) state.latest = newer(state.latest);
    if (!isNew) return;
    state.total = (state.total ?? 0) + 1;
    this.#observe(phase, duration);
  }

  #observe(statistic: Statistic, duration: number | undefined): void {
    if (duration === undefined) return;
    statistic.durations ??= new Histogram(this.#bounds);
    statistic.durations.observe(duration);
  }

  #statistic(subject: Subject, labels: Labels): Statistic {
    return getOrCreate(this.#statistics, keyOf(subject, labels), () => ({ subject, labels }));
  }

  /** The statistic of the label value of a field, or of `other` if it is new and the maximum is reached, which is reported. */
  #admittedStatistic(
    subject: Subject,
    outer: Labels,
    record: JsonObject,
    field: string,
    reportDrop: ReportDrop,
  ): Statistic {
    const labels = { ...outer, [field]: labelValue(record[field]) };
    if (this.#statistics.size < MAX_STATISTICS || this.#statistics.has(keyOf(subject, labels)))
      return this.#statistic(subject, labels);
    if (labels[field] !== OTHER) reportDrop('label', field);
    return this.#statistic(subject, { ...outer, [field]: OTHER });
  }

  /** Drops the current state if no response has confirmed it since `before`, in monotonic milliseconds. */
  removeStateBefore(before: number): void {
    if (this.current !== undefined && this.current.confirmedAt < before) this.current = undefined;
  }

  *samples(labels: PairLabels): Generator<Sample> {
    if (this.current !== undefined) {
      const { volume_guid, volume, filer_guid, filer } = labels;
      const records = [this.current.timed.record];
      const ofVolume = { volume_guid, volume };
      const ofFiler = { filer_guid, filer };
      yield* toSamples(this.table, records, filer_guid === '' ? ofVolume : volume_guid === '' ? ofFiler : labels);
      const group = filer_guid === '' ? 'volumes' : 'filers';
      yield* toSamples([families.recordTimestamp], records, { ...labels, group });
    }
    for (const statistic of this.#statistics.values()) yield* samplesOf(statistic, { ...labels, ...statistic.labels });
  }

  savedStatistics(): readonly SavedStatistic[] {
    const saved = (timed: TimedRecord | undefined) => (timed === undefined ? null : savedRecord(timed));
    return Array.from(this.#statistics.values(), ({ subject, labels, newest, latest, durations, total }) => [
      subject,
      labels,
      saved(newest),
      saved(latest),
      durations !== undefined,
      total !== undefined,
    ]);
  }

  /** Counters and histograms begin at 0. */
  restoreStatistics(statistics: readonly SavedStatistic[]): void {
    const restored = (saved: SavedRecord | null) => (saved === null ? undefined : restoreRecord(saved));
    for (const [subject, labels, newest, latest, hasDurations, hasTotal] of statistics) {
      this.#statistics.set(keyOf(subject, labels), {
        subject,
        labels,
        newest: restored(newest),
        latest: restored(latest),
        durations: hasDurations ? new Histogram(this.#bounds) : undefined,
        total: hasTotal ? 0 : undefined,
      });
    }
  }
}

function* samplesOf({ subject, newest, latest, durations, total }: Statistic, labels: Labels): Generator<Sample> {
  const shown: StatisticFamilies = STATISTICS[subject];
  if (shown.newest && newest) yield* toSamples([shown.newest], [newest.record], labels);
  if (shown.latest && latest) yield* toSamples([shown.latest], [latest.record], labels);
  if (shown.durations && durations) yield* durations.samples(shown.durations.name, labels);
  if (shown.total && total !== undefined) yield { name: shown.total.name, labels, value: total };
}

function keyOf(subject: Subject, labels: Labels): string {
  return [subject, ...Object.values(labels)].join('\n');
}

export function pairKey(filer: string, volume: string): string {
  return `${filer}\n${volume}`;
}

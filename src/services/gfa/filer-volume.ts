import { type JsonObject, OTHER } from '../../metrics/family.ts';
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

/** The most kinds of propagation and states of locks of a filer on a volume. Each has histograms and records. */
const MAX_STATISTICS = 24;

interface PropagationStats {
  latest: TimedRecord | undefined;
  durations: Histogram;
  protectedEvents: number | undefined;
}

interface LockPhaseStats {
  newest: TimedRecord | undefined;
  durations: Histogram | undefined;
  readonly states: Map<string, LockStateStats>;
}

interface LockStateStats {
  count: number;
  /** The newest event with the time that the lock was held. */
  latest: TimedRecord | undefined;
  newest: TimedRecord | undefined;
}

/** Returns the newer of the present event and an earlier one. */
type Newer = (before: TimedRecord | undefined) => TimedRecord | undefined;

type SavedHistogram = ReturnType<Histogram['state']>;

/** The counts of a filer on a volume, with the newest event of each. */
export interface SavedCounts {
  readonly newest: readonly (readonly [families.EventGroup, SavedRecord])[];
  readonly kinds: readonly (readonly [string, SavedRecord | null, SavedHistogram, protectedEvents: number | null])[];
  readonly phases: readonly (readonly [string, SavedRecord | null, SavedHistogram | null, readonly SavedState[]])[];
}

type SavedState = readonly [state: string, count: number, latest: SavedRecord | null, newest: SavedRecord | null];

/** The labels of a filer on a volume; the volume's are empty for a filer alone. */
type PairLabels = Readonly<Record<(typeof families.pairLabels)[number], string>>;

/** The state of one filer on one volume, or of a filer alone. */
export class FilerVolume {
  readonly filer: string;
  readonly volume: string;
  readonly kinds = new Map<string, PropagationStats>();
  readonly phases = new Map<string, LockPhaseStats>();
  readonly newest = new Map<families.EventGroup, TimedRecord>();
  current: CurrentRecord | undefined;
  /** Whether the state, and whether the counts, have changed since they were last saved. */
  hasNewState = false;
  hasNewCounts = false;
  readonly #bounds: readonly number[];

  constructor(filer: string, volume: string, bounds: readonly number[]) {
    this.filer = filer;
    this.volume = volume;
    this.#bounds = bounds;
  }

  /** The label value of a field, or `other` if it is new and the maximum is reached, which is reported. */
  #admitValue(
    entries: ReadonlyMap<string, unknown>,
    record: JsonObject,
    field: string,
    reportDrop: ReportDrop,
  ): string {
    const value = labelValue(record[field]);
    const states = [...this.phases.values()].reduce((sum, phase) => sum + phase.states.size, 0);
    if (entries.has(value) || this.kinds.size + states < MAX_STATISTICS) return value;
    if (value !== OTHER) reportDrop('label', field);
    return OTHER;
  }

  setCurrent(timed: TimedRecord, now: number, onDuplicate: () => void): void {
    this.hasNewState = true;
    this.current = confirmRecord(this.current, timed, now, onDuplicate);
  }

  get key(): string {
    return pairKey(this.filer, this.volume);
  }

  /** `responseReportedAt`: the time that the response reports as its own, in Unix seconds. */
  addEvent(
    group: families.EventGroup,
    event: TimedRecord,
    isNew: boolean,
    responseReportedAt: number,
    reportDrop: ReportDrop = () => {},
  ): void {
    this.hasNewCounts = true;
    const filerRecord = this.current?.timed;
    const reportedNow =
      filerRecord?.response === event.response
        ? Math.min(filerRecord.reportedAt, responseReportedAt)
        : responseReportedAt;
    const newer = (before: TimedRecord | undefined) => (isNewer(event, before, reportedNow) ? event : before);
    this.newest.set(group, newer(this.newest.get(group)) ?? event);
    if (group === 'locks') this.#addLock(event, isNew, newer, reportDrop);
    else this.#addPropagation(event, isNew, newer, reportDrop);
  }

  #addPropagation(timed: TimedRecord, isNew: boolean, newer: Newer, reportDrop: ReportDrop): void {
    const kind = getOrCreate(this.kinds, this.#admitValue(this.kinds, timed.record, 'kind', reportDrop), () => {
      return { latest: undefined, durations: new Histogram(this.#bounds), protectedEvents: undefined };
    });
    const duration = families.propagationDuration.from.read(timed.record.prop_seconds);
    if (duration !== undefined) kind.latest = newer(kind.latest);
    if (!isNew) return;
    if (duration !== undefined) kind.durations.observe(duration);
    const covered = parseDecimal(timed.record.data_protected);
    if (covered !== undefined && covered >= 0)
      kind.protectedEvents = Math.min(Number.MAX_VALUE, (kind.protectedEvents ?? 0) + covered);
  }

  #addLock(timed: TimedRecord, isNew: boolean, newer: Newer, reportDrop: ReportDrop): void {
    const { lock_duration } = timed.record;
    const phase = getOrCreate(
      this.phases,
      this.#admitValue(this.phases, timed.record, 'lock_phase', reportDrop),
      () => {
        return { newest: undefined, durations: undefined, states: new Map() };
      },
    );
    phase.newest = newer(phase.newest);
    const lockState = getOrCreate(
      phase.states,
      this.#admitValue(phase.states, timed.record, 'lock_state', reportDrop),
      (): LockStateStats => ({ count: 0, latest: undefined, newest: timed }),
    );
    lockState.newest = newer(lockState.newest);
    const duration = families.lockDuration.from.read(lock_duration);
    if (duration !== undefined) lockState.latest = newer(lockState.latest);
    if (!isNew) return;
    lockState.count += 1;
    if (duration === undefined) return;
    phase.durations ??= new Histogram(this.#bounds);
    phase.durations.observe(duration);
  }

  /** Drops the current state if no response has confirmed it since `before`, in monotonic milliseconds. */
  removeStateBefore(before: number): void {
    if (this.current === undefined || this.current.confirmedAt >= before) return;
    this.current = undefined;
    this.hasNewState = true;
  }

  *samples(labels: PairLabels): Generator<Sample> {
    if (this.current !== undefined) {
      const { volume_guid, volume, ...filer } = labels;
      const { record } = this.current.timed;
      if (volume_guid === '') yield* toSamples(families.filerTable, [record], filer);
      else yield* toSamples(families.filerOnVolumeTable, [record], labels);
      yield* toSamples([families.recordTimestamp], [record], { ...labels, group: 'filers' });
    }
    for (const [group, { record }] of this.newest)
      yield* toSamples([families.recordTimestamp], [record], { ...labels, group });
    for (const [kind, { latest, durations, protectedEvents }] of this.kinds) {
      const commonLabels = { ...labels, kind };
      if (latest !== undefined) yield* toSamples([families.propagationLatest], [latest.record], labels);
      if (durations.count > 0) yield* durations.samples(families.propagationDuration.name, commonLabels);
      if (protectedEvents !== undefined)
        yield { name: families.dataProtected.name, labels: commonLabels, value: protectedEvents };
    }
    for (const [lock_phase, { newest, durations, states }] of this.phases) {
      const commonLabels = { ...labels, lock_phase };
      if (newest !== undefined) yield* toSamples([families.lockState], [newest.record], labels);
      if (durations !== undefined) yield* durations.samples(families.lockDuration.name, commonLabels);
      for (const [lock_state, { count, latest, newest: newestOfState }] of states) {
        if (count > 0) yield { name: families.lockEvents.name, labels: { ...commonLabels, lock_state }, value: count };
        if (latest !== undefined) yield* toSamples([families.lockLatest], [latest.record], labels);
        if (newestOfState !== undefined) yield* toSamples([families.lockTimestamp], [newestOfState.record], labels);
      }
    }
  }

  savedCounts(): SavedCounts {
    const saved = (timed: TimedRecord | undefined) => (timed === undefined ? null : savedRecord(timed));
    return {
      // Only the time of these records is exposed.
      newest: [...this.newest].map(([group, { reportedAt, record }]) => [
        group,
        [reportedAt, { timestamp: record.timestamp }],
      ]),
      kinds: [...this.kinds].map(([kind, { latest, durations, protectedEvents = null }]) => [
        kind,
        saved(latest),
        durations.state(),
        protectedEvents,
      ]),
      phases: [...this.phases].map(([phase, { newest, durations, states }]) => [
        phase,
        saved(newest),
        durations?.state() ?? null,
        [...states].map(([state, { count, latest, newest: newestOfState }]) => [
          state,
          count,
          saved(latest),
          saved(newestOfState),
        ]),
      ]),
    };
  }

  restoreCounts({ newest: newestOfGroups, kinds, phases }: SavedCounts): void {
    for (const [group, timed] of newestOfGroups) this.newest.set(group, restoreRecord(timed));
    const restored = (timed: SavedRecord | null) => (timed === null ? undefined : restoreRecord(timed));
    for (const [kind, latest, durations, protectedEvents] of kinds) {
      this.kinds.set(kind, {
        latest: restored(latest),
        durations: Histogram.restore(this.#bounds, durations),
        protectedEvents: protectedEvents ?? undefined,
      });
    }
    for (const [phase, newest, durations, savedStates] of phases) {
      const states = new Map<string, LockStateStats>();
      for (const [state, count, latest, newestOfState] of savedStates)
        states.set(state, { count, latest: restored(latest), newest: restored(newestOfState) });
      this.phases.set(phase, {
        newest: restored(newest),
        durations: durations === null ? undefined : Histogram.restore(this.#bounds, durations),
        states,
      });
    }
  }
}

export function pairKey(filer: string, volume: string): string {
  return `${filer}\n${volume}`;
}

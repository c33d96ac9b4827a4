import { OTHER } from '../../metrics/family.ts';
import { Histogram } from '../../metrics/histogram.ts';
import { labelValue, type Sample, toSamples } from '../../metrics/samples.ts';
import { parseDecimal } from '../../metrics/units.ts';
import { getOrCreate } from '../../runtime/maps.ts';
import {
  type Current,
  confirmed,
  type Dated,
  datedFrom,
  isNewer,
  type SavedCurrent,
  type SavedDated,
  savedCurrent,
  savedDated,
} from './dated.ts';
import * as series from './series.ts';

/** Kinds and states of locks of a filer on a volume: each has histograms and records. */
const MAX_STATISTICS = 24;

interface Kind {
  latest: Dated | undefined;
  durations: Histogram;
  protectedEvents: number | undefined;
}

interface Phase {
  newest: Dated | undefined;
  durations: Histogram | undefined;
  readonly states: Map<string, State>;
}

interface State {
  count: number;
  /** The newest event with the time that the lock was held. */
  latest: Dated | undefined;
  newest: Dated | undefined;
}

/** The newer of an event and the one before. */
type Newer = (before: Dated | undefined) => Dated | undefined;

type SavedHistogram = ReturnType<Histogram['state']>;

/** The counts of a filer on a volume, with the newest event of each. */
export interface SavedCounts {
  readonly newest: readonly (readonly [series.EventKind, SavedDated])[];
  readonly kinds: readonly (readonly [string, SavedDated | null, SavedHistogram, protectedEvents: number | null])[];
  readonly phases: readonly (readonly [string, SavedDated | null, SavedHistogram | null, readonly SavedState[]])[];
}

type SavedState = readonly [state: string, count: number, latest: SavedDated | null, newest: SavedDated | null];

/** The labels of a filer on a volume; the volume's are empty for a filer alone. */
type PairLabels = Readonly<Record<(typeof series.pairLabels)[number], string>>;

/** The state of one filer on one volume, or of a filer alone. */
export class FilerVolume {
  readonly filer: string;
  readonly volume: string;
  readonly kinds = new Map<string, Kind>();
  readonly phases = new Map<string, Phase>();
  readonly newest = new Map<series.EventKind, Dated>();
  current: Current | undefined;
  /** Whether the state, and whether the counts, have changed since they were last saved. */
  hasNewState = false;
  hasNewCounts = false;
  readonly #bounds: readonly number[];

  constructor(filer: string, volume: string, bounds: readonly number[]) {
    this.filer = filer;
    this.volume = volume;
    this.#bounds = bounds;
  }

  /** A value of a label; `other` for a further one if there is no room for it. */
  #admit(entries: ReadonlyMap<string, unknown>, value: string): string {
    const states = [...this.phases.values()].reduce((sum, phase) => sum + phase.states.size, 0);
    return entries.has(value) || this.kinds.size + states < MAX_STATISTICS ? value : OTHER;
  }

  takeCurrent(dated: Dated, now: number, onDuplicate: () => void): void {
    this.hasNewState = true;
    this.current = confirmed(this.current, dated, now, onDuplicate);
  }

  get key(): string {
    return pairKey(this.filer, this.volume);
  }

  /** `responseReportedAt`: what the response reports as its own time, in Unix seconds. */
  takeEvent(group: series.EventKind, event: Dated, isNew: boolean, responseReportedAt: number): void {
    this.hasNewCounts = true;
    const ownRecord = this.current?.dated;
    const reportedNow =
      ownRecord?.response === event.response ? Math.min(ownRecord.reportedAt, responseReportedAt) : responseReportedAt;
    const newer = (before: Dated | undefined) => (isNewer(event, before, reportedNow) ? event : before);
    this.newest.set(group, newer(this.newest.get(group)) ?? event);
    if (group === 'locks') this.#takeLock(event, isNew, newer);
    else this.#takePropagation(event, isNew, newer);
  }

  #takePropagation(dated: Dated, isNew: boolean, newer: Newer): void {
    const kind = getOrCreate(this.kinds, this.#admit(this.kinds, labelValue(dated.record.kind)), () => {
      return { latest: undefined, durations: new Histogram(this.#bounds), protectedEvents: undefined };
    });
    const duration = series.propagationDuration.from.read(dated.record.prop_seconds);
    if (duration !== undefined) kind.latest = newer(kind.latest);
    if (!isNew) return;
    if (duration !== undefined) kind.durations.observe(duration);
    const covered = parseDecimal(dated.record.data_protected);
    if (covered !== undefined && covered >= 0)
      kind.protectedEvents = Math.min(Number.MAX_VALUE, (kind.protectedEvents ?? 0) + covered);
  }

  #takeLock(dated: Dated, isNew: boolean, newer: Newer): void {
    const { lock_phase, lock_state, lock_duration } = dated.record;
    const phase = getOrCreate(this.phases, this.#admit(this.phases, labelValue(lock_phase)), () => {
      return { newest: undefined, durations: undefined, states: new Map() };
    });
    phase.newest = newer(phase.newest);
    const counted = getOrCreate(
      phase.states,
      this.#admit(phase.states, labelValue(lock_state)),
      (): State => ({ count: 0, latest: undefined, newest: dated }),
    );
    counted.newest = newer(counted.newest);
    const duration = series.lockDuration.from.read(lock_duration);
    if (duration !== undefined) counted.latest = newer(counted.latest);
    if (!isNew) return;
    counted.count += 1;
    if (duration === undefined) return;
    phase.durations ??= new Histogram(this.#bounds);
    phase.durations.observe(duration);
  }

  /** Drops the current state if no answer has confirmed it since `before`, in monotonic milliseconds. */
  retire(before: number): void {
    if (this.current === undefined || this.current.confirmedAt >= before) return;
    this.current = undefined;
    this.hasNewState = true;
  }

  *samples(labels: PairLabels): Generator<Sample> {
    if (this.current !== undefined) {
      const { volume_guid, volume, ...filer } = labels;
      const { record } = this.current.dated;
      if (volume_guid === '') yield* toSamples(series.filerTable, [record], filer);
      else yield* toSamples(series.filerOnVolumeTable, [record], labels);
      yield* toSamples([series.recordTimestamp], [record], { ...labels, group: 'filers' });
    }
    for (const [group, { record }] of this.newest)
      yield* toSamples([series.recordTimestamp], [record], { ...labels, group });
    for (const [kind, { latest, durations, protectedEvents }] of this.kinds) {
      const of = { ...labels, kind };
      if (latest !== undefined) yield* toSamples([series.propagationLatest], [latest.record], labels);
      if (durations.count > 0) yield* durations.samples(series.propagationDuration.name, of);
      if (protectedEvents !== undefined) yield { name: series.dataProtected.name, labels: of, value: protectedEvents };
    }
    for (const [lock_phase, { newest, durations, states }] of this.phases) {
      const of = { ...labels, lock_phase };
      if (newest !== undefined) yield* toSamples([series.lockState], [newest.record], labels);
      if (durations !== undefined) yield* durations.samples(series.lockDuration.name, of);
      for (const [lock_state, { count, latest, newest: newestOfState }] of states) {
        if (count > 0) yield { name: series.lockEvents.name, labels: { ...of, lock_state }, value: count };
        if (latest !== undefined) yield* toSamples([series.lockLatest], [latest.record], labels);
        if (newestOfState !== undefined) yield* toSamples([series.lockTimestamp], [newestOfState.record], labels);
      }
    }
  }

  savedState(): SavedCurrent | null {
    return this.current === undefined ? null : savedCurrent(this.current);
  }

  savedCounts(): SavedCounts {
    const saved = (dated: Dated | undefined) => (dated === undefined ? null : savedDated(dated));
    return {
      // Only its time is exposed.
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
        [...states].map(([state, { count, latest, newest: last }]) => [state, count, saved(latest), saved(last)]),
      ]),
    };
  }

  restoreCounts({ newest: newestOfGroups, kinds, phases }: SavedCounts): void {
    for (const [group, dated] of newestOfGroups) this.newest.set(group, datedFrom(dated));
    const restored = (dated: SavedDated | null) => (dated === null ? undefined : datedFrom(dated));
    for (const [kind, latest, durations, protectedEvents] of kinds) {
      this.kinds.set(kind, {
        latest: restored(latest),
        durations: Histogram.restore(this.#bounds, durations),
        protectedEvents: protectedEvents ?? undefined,
      });
    }
    for (const [phase, newest, durations, savedStates] of phases) {
      const states = new Map<string, State>();
      for (const [state, count, latest, last] of savedStates)
        states.set(state, { count, latest: restored(latest), newest: restored(last) });
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

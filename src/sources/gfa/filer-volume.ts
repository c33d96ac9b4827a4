import type { Fields } from '../../metrics/family.ts';
import { Histogram } from '../../metrics/histogram.ts';
import { type Sample, text, toSamples } from '../../metrics/samples.ts';
import { decimal } from '../../metrics/units.ts';
import { entryOf } from '../../runtime/maps.ts';
import {
  type Current,
  confirmed,
  currentFrom,
  type Dated,
  datedFrom,
  type SavedCurrent,
  type SavedDated,
  savedCurrent,
  savedDated,
} from './dated.ts';
import * as series from './series.ts';

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
  /** The time of the newest event, in Unix seconds. */
  newestAt: number;
}

type SavedHistogram = ReturnType<Histogram['state']>;

export interface SavedPair {
  readonly filer: string;
  readonly volume: string;
  readonly current: SavedCurrent | null;
  readonly newest: readonly (readonly [series.Group, SavedDated])[];
  readonly kinds: readonly (readonly [string, SavedDated | null, SavedHistogram, protectedEvents: number | null])[];
  readonly phases: readonly (readonly [string, SavedDated | null, SavedHistogram | null, readonly SavedState[]])[];
}

type SavedState = readonly [state: string, count: number, latest: SavedDated | null, newestAt: number | null];

/** The labels of a filer on a volume; the volume's are empty for a filer alone. */
type PairLabels = Readonly<Record<(typeof series.pairLabels)[number], string>>;

/** The state of one filer on one volume, or of a filer alone. */
export class FilerVolume {
  readonly filer: string;
  readonly volume: string;
  readonly kinds = new Map<string, Kind>();
  readonly phases = new Map<string, Phase>();
  readonly newest = new Map<series.Group, Dated>();
  current: Current | undefined;
  readonly #bounds: readonly number[];

  constructor(filer: string, volume: string, bounds: readonly number[]) {
    this.filer = filer;
    this.volume = volume;
    this.#bounds = bounds;
  }

  takeCurrent(dated: Dated, now: number): void {
    this.#keepNewest('filers', dated);
    this.current = confirmed(this.current, dated, now);
  }

  get key(): string {
    return pairKey(this.filer, this.volume);
  }

  takeEvent(group: 'locks' | 'propagation', dated: Dated, fresh: boolean): void {
    this.#keepNewest(group, dated);
    if (group === 'locks') this.#takeLock(dated, fresh);
    else this.#takePropagation(dated, fresh);
  }

  #takePropagation(dated: Dated, fresh: boolean): void {
    const kind = entryOf(this.kinds, text(dated.record.kind), () => {
      return { latest: undefined, durations: new Histogram(this.#bounds), protectedEvents: undefined };
    });
    const duration = series.propagationDuration.from.read(dated.record.prop_seconds);
    if (duration !== undefined && isNewer(dated, kind.latest)) kind.latest = dated;
    if (!fresh) return;
    if (duration !== undefined) kind.durations.observe(duration);
    const covered = decimal(dated.record.data_protected);
    if (covered !== undefined && covered >= 0) kind.protectedEvents = (kind.protectedEvents ?? 0) + covered;
  }

  #takeLock(dated: Dated, fresh: boolean): void {
    const { lock_phase, lock_state, lock_duration } = dated.record;
    const phase = entryOf(this.phases, text(lock_phase), () => {
      return { newest: undefined, durations: undefined, states: new Map() };
    });
    if (isNewer(dated, phase.newest)) phase.newest = dated;
    const counted = entryOf(phase.states, text(lock_state), () => ({
      count: 0,
      latest: undefined,
      newestAt: dated.at,
    }));
    counted.newestAt = Math.max(counted.newestAt, dated.at);
    const duration = series.lockDuration.from.read(lock_duration);
    if (duration !== undefined && isNewer(dated, counted.latest)) counted.latest = dated;
    if (!fresh) return;
    counted.count += 1;
    if (duration === undefined) return;
    phase.durations ??= new Histogram(this.#bounds);
    phase.durations.observe(duration);
  }

  /** Drops the current state if no answer has confirmed it since `before`, in monotonic milliseconds. */
  retire(before: number): void {
    if (this.current !== undefined && this.current.confirmedAt < before) {
      this.current = undefined;
      this.newest.delete('filers');
    }
  }

  /** Only counters and histograms if no answer names the filer and the volume any more. */
  *samples(labels: PairLabels, isNamed = true): Generator<Sample> {
    if (isNamed && this.current !== undefined) {
      const { volume_guid, volume, ...filer } = labels;
      const { record } = this.current.dated;
      if (volume_guid === '') yield* toSamples(series.filerTable, [record], filer);
      else yield* toSamples(series.filerOnVolumeTable, [record], labels);
    }
    const newest = isNamed ? this.newest : [];
    for (const [group, { record }] of newest)
      yield* toSamples([series.recordTimestamp], [record], { ...labels, group });
    for (const [kind, { latest, durations, protectedEvents }] of this.kinds) {
      const of = { ...labels, kind };
      if (isNamed && latest !== undefined) yield* toSamples([series.propagationLatest], [latest.record], labels);
      if (durations.count > 0) yield* durations.samples(series.propagationDuration.name, of);
      if (protectedEvents !== undefined) yield { name: series.dataProtected.name, labels: of, value: protectedEvents };
    }
    for (const [lock_phase, { newest, durations, states }] of this.phases) {
      const of = { ...labels, lock_phase };
      if (isNamed && newest !== undefined) yield* toSamples([series.lockState], [newest.record], labels);
      if (durations !== undefined) yield* durations.samples(series.lockDuration.name, of);
      for (const [lock_state, { count, latest, newestAt }] of states) {
        if (count > 0) yield { name: series.lockEvents.name, labels: { ...of, lock_state }, value: count };
        if (isNamed && latest !== undefined) yield* toSamples([series.lockLatest], [latest.record], labels);
        if (isNamed && Number.isFinite(newestAt))
          yield { name: series.lockTimestamp.name, labels: { ...of, lock_state }, value: newestAt };
      }
    }
  }

  state(now: number): SavedPair {
    const { filer, volume, current, newest, kinds, phases } = this;
    const saved = (dated: Dated | undefined) => (dated === undefined ? null : savedDated(dated));
    return {
      ...{ filer, volume, current: current === undefined ? null : savedCurrent(current, now) },
      newest: [...newest].map(([group, dated]) => [group, savedDated(dated)]),
      kinds: [...kinds].map(([kind, { latest, durations, protectedEvents = null }]) => [
        kind,
        saved(latest),
        durations.state(),
        protectedEvents,
      ]),
      phases: [...phases].map(([phase, { newest, durations, states }]) => [
        phase,
        saved(newest),
        durations?.state() ?? null,
        [...states].map(([state, { count, latest, newestAt }]) => [state, count, saved(latest), newestAt]),
      ]),
    };
  }

  static restore(saved: SavedPair, bounds: readonly number[], then: number): FilerVolume {
    const pair = new FilerVolume(saved.filer.toLowerCase(), saved.volume.toLowerCase(), bounds);
    const restored = (dated: SavedDated | null) => (dated === null ? undefined : datedFrom(dated));
    pair.current = saved.current === null ? undefined : currentFrom(saved.current, then);
    for (const [group, dated] of saved.newest) pair.newest.set(group, datedFrom(dated));
    for (const [kind, latest, durations, covered] of saved.kinds) {
      const kept = { latest: restored(latest), durations: Histogram.restore(bounds, durations) };
      pair.kinds.set(kind, { ...kept, protectedEvents: covered ?? undefined });
    }
    for (const [phase, newest, durations, saidStates] of saved.phases) {
      const states = new Map<string, State>();
      for (const [state, count, latest, newestAt] of saidStates)
        states.set(state, { count, latest: restored(latest), newestAt: newestAt ?? Number.NEGATIVE_INFINITY });
      const kept = durations === null ? undefined : Histogram.restore(bounds, durations);
      pair.phases.set(phase, { newest: restored(newest), durations: kept, states });
    }
    return pair;
  }

  #keepNewest(group: series.Group, dated: Dated): void {
    const held = this.newest.get(group);
    if (Number.isFinite(dated.at) && (held === undefined || dated.at >= held.at)) this.newest.set(group, dated);
  }
}

export function pairKey(filer: string, volume: string): string {
  return `${filer}\n${volume}`;
}

/** By its own time, not by arrival. Of two in the same second, the one with a duration: a lock is released later. */
export function isNewer(dated: Dated, held: Dated | undefined): boolean {
  if (held === undefined || dated.at > held.at) return true;
  if (dated.at < held.at) return false;
  return tieRank(dated.record) > tieRank(held.record);
}

function tieRank(record: Fields): string {
  const told = decimal(record.lock_duration) !== undefined || decimal(record.prop_seconds) !== undefined;
  return `${told ? 1 : 0}${text(record.lock_state)}|${text(record.lock_duration)}|${text(record.prop_seconds)}`;
}

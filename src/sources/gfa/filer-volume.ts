import type { Fields } from '../../metrics/family.ts';
import { Histogram, type HistogramSettings, type HistogramState } from '../../metrics/histogram.ts';
import { keptCount, keptNumber, keptText, keptWord } from '../../metrics/restored-values.ts';
import { type Sample, text, toSamples } from '../../metrics/samples.ts';
import { decimal } from '../../metrics/units.ts';
import {
  type Current,
  confirmed,
  currentOf,
  type Dated,
  type DatedState,
  datedOf,
  stateOfCurrent,
  stateOfDated,
} from './dated.ts';
import {
  dataProtected,
  filerOnVolumeTable,
  filerTable,
  GROUPS,
  type Group,
  lockDuration,
  lockEvents,
  lockLatest,
  lockState,
  lockTimestamp,
  type pairLabels,
  propagationDuration,
  propagationLatest,
  recordTimestamp,
} from './series.ts';

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

/** The labels of a filer on a volume; the volume's are empty for a filer alone. */
type PairLabels = Readonly<Record<(typeof pairLabels)[number], string>>;

/** The state of one filer on one volume, or of a filer alone. */
export class Pair {
  readonly filer: string;
  readonly volume: string;
  readonly #settings: HistogramSettings;
  readonly #kinds = new Map<string, Kind>();
  readonly #phases = new Map<string, Phase>();
  readonly #newest = new Map<Group, Dated>();
  /** The newest record of the group `filers`. */
  #current: Current | undefined;

  constructor(filer: string, volume: string, settings: HistogramSettings) {
    this.filer = filer;
    this.volume = volume;
    this.#settings = settings;
  }

  takeCurrent(dated: Dated, now: number): void {
    this.#note('filers', dated);
    this.#current = confirmed(this.#current, dated, now);
  }

  /** Unique among all pairs. */
  get key(): string {
    return pairKey(this.filer, this.volume);
  }

  /** Takes an event; `fresh` if it has not been counted before. */
  takeEvent(group: 'locks' | 'propagation', dated: Dated, fresh: boolean): void {
    this.#note(group, dated);
    if (group === 'locks') this.#takeLock(dated, fresh);
    else this.#takePropagation(dated, fresh);
  }

  #takePropagation(dated: Dated, fresh: boolean): void {
    const kind = entry(this.#kinds, text(dated.record.kind), () => {
      return { latest: undefined, durations: new Histogram(this.#settings.bounds), protectedEvents: undefined };
    });
    const duration = propagationDuration.from.read(dated.record.prop_seconds);
    if (duration !== undefined && isNewer(dated, kind.latest)) kind.latest = dated;
    if (!fresh) return;
    if (duration !== undefined) kind.durations.observe(duration);
    const covered = decimal(dated.record.data_protected);
    if (covered !== undefined && covered >= 0) kind.protectedEvents = (kind.protectedEvents ?? 0) + covered;
  }

  #takeLock(dated: Dated, fresh: boolean): void {
    const { lock_phase, lock_state, lock_duration } = dated.record;
    const phase = entry(this.#phases, text(lock_phase), () => {
      return { newest: undefined, durations: undefined, states: new Map() };
    });
    if (isNewer(dated, phase.newest)) phase.newest = dated;
    const counted = entry(phase.states, text(lock_state), () => ({ count: 0, latest: undefined, newestAt: dated.at }));
    counted.newestAt = Math.max(counted.newestAt, dated.at);
    const duration = lockDuration.from.read(lock_duration);
    if (duration !== undefined && isNewer(dated, counted.latest)) counted.latest = dated;
    if (!fresh) return;
    counted.count += 1;
    if (duration === undefined) return;
    phase.durations ??= new Histogram(this.#settings.bounds);
    phase.durations.observe(duration);
  }

  /** Drops the current state if no answer has confirmed it since `before`, in monotonic milliseconds. */
  retire(before: number): void {
    if (this.#current !== undefined && this.#current.confirmedAt < before) {
      this.#current = undefined;
      this.#newest.delete('filers');
    }
  }

  /**
   * Its samples under the labels of filer and volume; only counters and histograms if no answer names them any more.
   */
  *samples(labels: PairLabels, isNamed = true): Generator<Sample> {
    if (isNamed && this.#current !== undefined) {
      const { volume_guid, volume, ...filer } = labels;
      const { record } = this.#current.dated;
      if (volume_guid === '') yield* toSamples(filerTable, [record], filer);
      else yield* toSamples(filerOnVolumeTable, [record], labels);
    }
    const newest = isNamed ? this.#newest : [];
    for (const [group, { record }] of newest) yield* toSamples([recordTimestamp], [record], { ...labels, group });
    for (const [kind, { latest, durations, protectedEvents }] of this.#kinds) {
      const of = { ...labels, kind };
      if (isNamed && latest !== undefined) yield* toSamples([propagationLatest], [latest.record], labels);
      if (durations.count > 0) yield* durations.samples(propagationDuration.name, of, this.#settings.boundText);
      if (protectedEvents !== undefined) yield { name: dataProtected.name, labels: of, value: protectedEvents };
    }
    for (const [lock_phase, { newest, durations, states }] of this.#phases) {
      const of = { ...labels, lock_phase };
      if (isNamed && newest !== undefined) yield* toSamples([lockState], [newest.record], labels);
      if (durations !== undefined) yield* durations.samples(lockDuration.name, of, this.#settings.boundText);
      for (const [lock_state, { count, latest, newestAt }] of states) {
        if (count > 0) yield { name: lockEvents.name, labels: { ...of, lock_state }, value: count };
        if (isNamed && latest !== undefined) yield* toSamples([lockLatest], [latest.record], labels);
        if (isNamed && Number.isFinite(newestAt))
          yield { name: lockTimestamp.name, labels: { ...of, lock_state }, value: newestAt };
      }
    }
  }

  /** The state for {@link Pair.restore}. */
  state(now: number) {
    const kept = (dated: Dated | undefined) => (dated === undefined ? null : stateOfDated(dated));
    return {
      filer: this.filer,
      volume: this.volume,
      current: this.#current === undefined ? null : stateOfCurrent(this.#current, now),
      newest: [...this.#newest].map(([group, dated]) => [group, stateOfDated(dated)] as const),
      kinds: [...this.#kinds].map(([name, { latest, durations, protectedEvents }]) => {
        return [name, kept(latest), durations.state(), protectedEvents ?? null] as const;
      }),
      phases: [...this.#phases].map(([name, { newest, durations, states }]) => {
        const words = [...states].map(([word, { count, latest, newestAt }]) => {
          return [word, count, kept(latest), newestAt] as const;
        });
        return [name, kept(newest), durations?.state() ?? null, words] as const;
      }),
    };
  }

  /** A pair with everything that a saved one had counted. Throws a TypeError if it is not a saved pair. */
  static restore(saved: PairState, settings: HistogramSettings, now: number): Pair {
    const pair = new Pair(keptText(saved.filer), keptText(saved.volume), settings);
    const dated = (state: DatedState | null) => (state === null ? undefined : datedOf(state));
    const histogram = (state: HistogramState) => Histogram.restore(settings.bounds, state);
    if (saved.current !== null) pair.#current = currentOf(saved.current, now);
    for (const [group, state] of saved.newest) pair.#newest.set(keptWord(group, GROUPS), datedOf(state));
    for (const [name, latest, durations, covered] of saved.kinds) {
      const protectedEvents = covered === null ? undefined : keptNumber(covered, 0);
      pair.#kinds.set(keptText(name), { latest: dated(latest), durations: histogram(durations), protectedEvents });
    }
    for (const [name, newest, durations, words] of saved.phases) {
      const states = new Map<string, State>();
      for (const [word, count, latest, newestAt] of words) {
        // State files of earlier versions do not have the time.
        const at = typeof newestAt === 'number' ? keptNumber(newestAt) : Number.NEGATIVE_INFINITY;
        states.set(keptText(word), { count: keptCount(count), latest: dated(latest), newestAt: at });
      }
      const held = durations === null ? undefined : histogram(durations);
      pair.#phases.set(keptText(name), { newest: dated(newest), durations: held, states });
    }
    return pair;
  }

  #note(group: Group, dated: Dated): void {
    const held = this.#newest.get(group);
    if (Number.isFinite(dated.at) && (held === undefined || dated.at >= held.at)) this.#newest.set(group, dated);
  }
}

/** The entry of a map, new if it has none. */
function entry<Value>(map: Map<string, Value>, key: string, begin: () => Value): Value {
  const value = map.get(key) ?? begin();
  map.set(key, value);
  return value;
}

export function pairKey(filer: string, volume: string): string {
  return `${filer}\n${volume}`;
}

/** A pair as saved in the state file. */
export type PairState = ReturnType<Pair['state']>;

/**
 * Whether an event is the newer one, by its own time and not by arrival. Of two in the same second, the one with a
 * duration is later, because a lock is released after it was taken; else the one with the greater text, so that the
 * order of arrival has no effect.
 */
export function isNewer(dated: Dated, held: Dated | undefined): boolean {
  if (held === undefined || dated.at > held.at) return true;
  if (dated.at < held.at) return false;
  return tieRank(dated.record) > tieRank(held.record);
}

function tieRank(record: Fields): string {
  const told = decimal(record.lock_duration) !== undefined || decimal(record.prop_seconds) !== undefined;
  return `${told ? 1 : 0}${text(record.lock_state)}|${text(record.lock_duration)}|${text(record.prop_seconds)}`;
}

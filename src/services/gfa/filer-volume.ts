import { type Family, type Labels, OTHER } from '../../metrics/family.ts';
import { Histogram } from '../../metrics/histogram.ts';
import { type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';
import { getOrCreate } from '../../runtime/maps.ts';
import { type GfaEvent, isNewer } from './event.ts';
import * as families from './families.ts';
import { newerState, type StateRecord } from './state-record.ts';

/** The most statistics of a filer on a volume; beyond that, new label values are `other`. Each has events or a histogram. */
const MAX_STATISTICS = 26;

/** The families that show a statistic: the time of the newest event, the duration of the newest that has one, all durations, and a number. */
interface StatisticFamilies {
  readonly newest?: Family;
  readonly latest?: Family;
  readonly durations?: Family;
  readonly total?: Family;
}

/** The statistics of each group of events, each kind of propagation, each phase of a lock, and each state of a lock. */
const STATISTICS = {
  group: { newest: families.recordTimestamp },
  kind: { latest: families.propagationLatest, durations: families.propagationDuration, total: families.dataProtected },
  // The newest event of a phase is shown by its state.
  phase: { durations: families.lockDuration },
  state: { newest: families.lockTimestamp, latest: families.lockLatest, total: families.lockEvents },
} as const satisfies Record<string, StatisticFamilies>;

type StatisticName = keyof typeof STATISTICS;

interface Statistic {
  readonly name: StatisticName;
  readonly labels: Labels;
  newest?: GfaEvent | undefined;
  latest?: GfaEvent | undefined;
  durations?: Histogram | undefined;
  total?: number | undefined;
}

export type SavedStatistic = readonly [
  name: StatisticName,
  labels: Labels,
  newest: SavedEvent | null,
  latest: SavedEvent | null,
  hasDurations: boolean,
  hasTotal: boolean,
];

type SavedEvent = readonly [reportedAt: number, at: number, lockState: string | null, duration: number | null];

/** The labels of a filer on a volume; the volume's are empty for a filer alone, the filer's for a volume alone. */
type PairLabels = Readonly<Record<(typeof families.pairLabels)[number], string>>;

/** The state of one filer on one volume, of a filer alone, or of a volume alone: this folder calls each of them a pair. */
export class FilerVolume {
  readonly filer: string;
  readonly volume: string;
  /** The newest record; undefined while there is none, or none that is still true. */
  state: StateRecord | undefined;
  readonly #bounds: readonly number[];
  readonly #statistics = new Map<string, Statistic>();

  constructor(filer: string, volume: string, bounds: readonly number[]) {
    this.filer = filer;
    this.volume = volume;
    this.#bounds = bounds;
  }

  /** The families whose fields the state has. */
  get table(): readonly Family[] {
    if (this.filer === '') return families.volumeTable;
    return this.volume === '' ? families.filerTable : families.filerOnVolumeTable;
  }

  setState(state: StateRecord): void {
    this.state = newerState(this.state, state);
  }

  /** When the filer was in contact with the service, in Unix seconds. The ledger shows the newest of all records of a filer. */
  get checkin(): number | undefined {
    const record = this.filer === '' ? undefined : this.state?.record;
    return record && families.lastCheckin.from.read(record.last_checkin, record);
  }

  /** `isNew`: whether it is counted; `now`: the service's time in Unix seconds. */
  addEvent(group: families.EventGroup, event: GfaEvent, isNew: boolean, now: number, reportDrop: ReportDrop): void {
    const newer = (before: GfaEvent | undefined) => (isNewer(event, before, now) ? event : before);
    const ofGroup = this.#statistic('group', { group });
    ofGroup.newest = newer(ofGroup.newest);
    if (group === 'locks') this.#addLock(event, isNew, newer, reportDrop);
    else this.#addPropagation(event, isNew, newer, reportDrop);
  }

  #addPropagation(event: GfaEvent, isNew: boolean, newer: Newer, reportDrop: ReportDrop): void {
    const kind = this.#admitted('kind', {}, event.labels, 'kind', reportDrop);
    if (event.duration !== undefined) kind.latest = newer(kind.latest);
    if (!isNew) return;
    this.#observe(kind, event.duration);
    if (event.dataProtected === undefined) return;
    kind.total = Math.min(Number.MAX_VALUE, (kind.total ?? 0) + event.dataProtected);
  }

  #addLock(event: GfaEvent, isNew: boolean, newer: Newer, reportDrop: ReportDrop): void {
    const phase = this.#admitted('phase', {}, event.labels, 'lock_phase', reportDrop);
    const state = this.#admitted('state', phase.labels, event.labels, 'lock_state', reportDrop);
    phase.newest = newer(phase.newest);
    state.newest = newer(state.newest);
    if (event.duration !== undefined) state.latest = newer(state.latest);
    if (!isNew) return;
    state.total = (state.total ?? 0) + 1;
    this.#observe(phase, event.duration);
  }

  #observe(statistic: Statistic, duration: number | undefined): void {
    if (duration === undefined) return;
    statistic.durations ??= new Histogram(this.#bounds);
    statistic.durations.observe(duration);
  }

  #statistic(name: StatisticName, labels: Labels): Statistic {
    return getOrCreate(this.#statistics, keyOf(name, labels), () => ({ name, labels }));
  }

  /** The statistic of a label's value, or of `other` if the value is new and the maximum is reached, which is reported. */
  #admitted(name: StatisticName, outer: Labels, values: Labels, label: string, reportDrop: ReportDrop): Statistic {
    const labels = { ...outer, [label]: values[label] ?? '' };
    if (this.#statistics.size < MAX_STATISTICS || this.#statistics.has(keyOf(name, labels)))
      return this.#statistic(name, labels);
    if (labels[label] !== OTHER) reportDrop('label', label);
    return this.#statistic(name, { ...outer, [label]: OTHER });
  }

  /** Removes the state if no response has confirmed it since `before`, in monotonic milliseconds. */
  removeStateBefore(before: number): void {
    if (this.state !== undefined && this.state.confirmedAt < before) this.state = undefined;
  }

  /** Called when the filer or the volume is gone. Its counts stay. */
  removeEvents(): void {
    for (const statistic of this.#statistics.values()) {
      statistic.newest = undefined;
      statistic.latest = undefined;
    }
  }

  *samples(labels: PairLabels): Generator<Sample> {
    if (this.state !== undefined) {
      const records = [this.state.record];
      const { volume_guid, volume } = labels;
      if (this.filer === '') yield* toSamples(this.table, records, { volume_guid, volume });
      else if (this.volume !== '') yield* toSamples(this.table, records, labels);
      const group = this.filer === '' ? 'volumes' : 'filers';
      yield* toSamples([families.recordTimestamp], records, { ...labels, group });
    }
    for (const statistic of this.#statistics.values()) yield* samplesOf(statistic, { ...labels, ...statistic.labels });
  }

  save(): readonly SavedStatistic[] {
    return Array.from(this.#statistics.values(), ({ name, labels, newest, latest, durations, total }) => {
      return [name, labels, savedEvent(newest), savedEvent(latest), durations !== undefined, total !== undefined];
    });
  }

  /** Counters and histograms begin at 0, so that Prometheus sees the first event that is counted. */
  restore(saved: readonly SavedStatistic[]): void {
    for (const [name, labels, newest, latest, hasDurations, hasTotal] of saved) {
      const statistic = this.#statistic(name, labels);
      statistic.newest = restoredEvent(newest);
      statistic.latest = restoredEvent(latest);
      if (hasDurations) statistic.durations = new Histogram(this.#bounds);
      if (hasTotal) statistic.total = 0;
    }
  }
}

/** Returns the newer of an event and the newest one before. */
type Newer = (before: GfaEvent | undefined) => GfaEvent | undefined;

function* samplesOf({ name, newest, latest, durations, total }: Statistic, labels: Labels): Generator<Sample> {
  const shown: StatisticFamilies = STATISTICS[name];
  if (name === 'phase' && newest !== undefined) {
    yield {
      name: families.lockState.name,
      labels: { ...labels, lock_state: newest.labels.lock_state ?? '' },
      value: 1,
    };
  }
  if (shown.newest && newest) yield { name: shown.newest.name, labels, value: newest.at };
  if (shown.latest && latest?.duration !== undefined) yield { name: shown.latest.name, labels, value: latest.duration };
  if (shown.durations && durations) yield* durations.samples(shown.durations.name, labels);
  if (shown.total && total !== undefined) yield { name: shown.total.name, labels, value: total };
}

function savedEvent(event: GfaEvent | undefined): SavedEvent | null {
  if (event === undefined) return null;
  const { reportedAt, at, labels, duration = null } = event;
  return [reportedAt, at, labels.lock_state ?? null, duration];
}

function restoredEvent(saved: SavedEvent | null): GfaEvent | undefined {
  if (saved === null) return undefined;
  const [reportedAt, at, lockState, duration] = saved;
  const labels: Labels = lockState === null ? {} : { lock_state: lockState };
  return { reportedAt, at, response: 0, labels, duration: duration ?? undefined };
}

function keyOf(name: StatisticName, labels: Labels): string {
  return [name, ...Object.values(labels)].join('\n');
}

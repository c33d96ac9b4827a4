import { type Fields, OTHER } from '../../../metrics/family.ts';
import { keptTally, Tally, type TallyState } from '../../../metrics/label-counter.ts';
import { keptList, keptNumber, keptText } from '../../../metrics/restored-values.ts';
import { type Sample, text, wordOf } from '../../../metrics/samples.ts';
import { keptSeen, Seen, type SeenState } from '../../../metrics/seen-ids.ts';
import { latestNotification, notificationsBySeverity, notificationsTotal, SEVERITIES } from './notifications-tables.ts';

/** The most ids to remember. Above it the oldest are evicted, and count again if they arrive again. */
const MOST_REMEMBERED = 50_000;

/** Counts of notifications by their labels, and the ids of those that may arrive again. */
export class NotificationCounts {
  readonly #total = new Tally([
    { name: 'severity', known: SEVERITIES },
    ...['category', 'sub_category', 'filer', 'volume'].map((name) => ({ name })),
  ]);
  readonly #bySeverity = new Tally([{ name: 'severity', known: SEVERITIES }]);
  readonly #latest = new Map<string, number>();
  readonly #seen = new Seen(MOST_REMEMBERED);

  constructor() {
    for (const severity of [...SEVERITIES, OTHER]) this.#bySeverity.add([severity], 0);
  }

  /** Restores a saved state. Throws if it is not one. */
  static of(saved: NotificationCountsState): NotificationCounts {
    const counts = new NotificationCounts();
    counts.#seen.restore(keptSeen(saved.seen));
    counts.#total.restore(keptTally(saved.total));
    counts.#bySeverity.restore(keptTally(saved.bySeverity));
    for (const one of keptList(saved.latest)) {
      const [severity, at] = keptList(one);
      counts.#latest.set(keptText(severity), keptNumber(at));
    }
    return counts;
  }

  /**
   * Takes a notification and returns true, unless it was taken before; `isCounted` if it is not from before the start.
   */
  take(record: Fields, id: string, at: number, isCounted: boolean): boolean {
    if (!this.#seen.admit(id, at)) return false;
    const told = wordOf(record.severity);
    const severity = SEVERITIES.find((word) => word === told) ?? OTHER;
    this.#latest.set(severity, Math.max(at, this.#latest.get(severity) ?? at));
    const by = isCounted ? 1 : 0;
    const { category, sub_category, appliance_name, volume_name } = record;
    this.#total.add([severity, wordOf(category), wordOf(sub_category), text(appliance_name), text(volume_name)], by);
    this.#bySeverity.add([severity], by);
    return true;
  }

  /** Forgets the ids of notifications from before a time in Unix seconds: they cannot arrive again. */
  forgetBefore(time: number): void {
    this.#seen.forgetBefore(time);
  }

  /** The counts so far. */
  samples(): Sample[] {
    return [
      ...this.#total.samples(notificationsTotal.name),
      ...this.#bySeverity.samples(notificationsBySeverity.name),
      ...[...this.#latest].map(([severity, value]) => ({ name: latestNotification.name, labels: { severity }, value })),
    ];
  }

  state(): NotificationCountsState {
    return {
      seen: this.#seen.state(),
      total: this.#total.state(),
      bySeverity: this.#bySeverity.state(),
      latest: [...this.#latest],
    };
  }
}

/** The counts as saved in the state file. */
export interface NotificationCountsState {
  readonly seen: SeenState;
  readonly total: TallyState;
  readonly bySeverity: TallyState;
  readonly latest: readonly (readonly [severity: string, at: number])[];
}

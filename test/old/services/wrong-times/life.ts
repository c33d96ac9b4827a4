import type { PollResult } from '../../../src/contract/poll-result.ts';
import type { Task } from '../../../src/contract/task.ts';
import { FUTURE_MS } from '../../../src/history/points.ts';
import type { DropReason, Sample } from '../../../src/metrics/samples.ts';
import { Receiver } from '../../harness/receiver.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { going } from '../../support/mock-api.ts';
import { CATCH_UP, endOf, MEASURED, MINUTE, type Plan, type Trouble } from './plans.ts';
import { type Process, startProcess } from './process.ts';
import { type EventKind, iso, SERIAL, TELEMETRY_DELAY, WrongServices } from './services.ts';

/*
 * Every time that can be wrong, for as long as it can: services that have one event of each kind between two polls, a
 * receiver of remote write, a state file, and a model that knows only what the services delivered.
 */

/**
 * A plan goes on for so many polls after its last error: until telemetry with wrong times is over, until six hours are
 * caught up, until a cursor that is ahead is set back.
 */
const AFTER = { usual: 8, telemetry: 14, hours: 20, ahead: 80 } as const;

/** What is wrong after the troubles of each plan, by its name. */
export async function errorsOf(plans: readonly Plan[]): Promise<Readonly<Record<string, readonly string[]>>> {
  const wrong: Record<string, readonly string[]> = {};
  for (const plan of plans) {
    const life = new Life(plan);
    await life.play();
    const faults = life.faults();
    if (faults.length > 0) wrong[plan.name] = faults.slice(0, 4);
  }
  return wrong;
}

/** How many events of a kind were counted, and how many were dropped. */
interface Counted {
  counted: number;
  dropped: number;
}

class Life {
  readonly #plan: Plan;
  readonly #services: WrongServices;
  /** From which poll on all is right, and the last poll. */
  readonly #calm: number;
  readonly #end: number;
  readonly #file = new MemoryStore();
  readonly #receiver = new Receiver();
  readonly #counts: Record<EventKind, Counted> = {
    locks: counted(),
    propagation: counted(),
    notifications: counted(),
    jobs: counted(),
  };
  readonly #faults: string[] = [];
  #process: Process;
  #missedBefore = 0;
  /** Until when telemetry was delivered with wrong times, and until when any time was wrong for hours, in Unix seconds. */
  #wrongUntil = 0;
  #longUntil = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#services = new WrongServices(plan);
    this.#process = this.#start();
    const ends = plan.troubles.map(endOf);
    this.#calm = Math.max(...ends, ...plan.restarts.keys());
    this.#end = this.#calm + Math.max(...plan.troubles.map(afterOf));
  }

  async play(): Promise<void> {
    const services = this.#services;
    await this.#process.keeper.load(this.#process.kept);
    for (; services.poll < this.#end; services.poll += 1) {
      await services.timePasses();
      for (const { culprit, isHourly } of services.troubles) {
        if (culprit === 'telemetry' || culprit === 'the service') this.#wrongUntil = services.now;
        if (isHourly) this.#longUntil = services.now;
      }
      const restart = this.#plan.restarts.get(services.poll);
      if (restart !== undefined) await this.#restart(restart);
      services.isWithheld = services.poll === this.#calm + MEASURED + 1;
      if (services.isWithheld) this.#missedBefore = this.#missed;
      const gfa = await this.#read([...this.#process.gfa.collector.tasks()][0], ['locks', 'propagation']);
      const own = { cpu_utilization: [], notifications: ['notifications'], jobs: ['jobs'] } as const;
      const portal: Sample[] = [];
      for (const task of this.#process.portal.collector.tasks()) {
        const kinds = own[task.operation as keyof typeof own];
        if (kinds !== undefined) portal.push(...(await this.#read(task, kinds)));
      }
      await this.#through(this.#process.remote.flush(going));
      this.#judge(gfa, portal, services.poll - this.#calm);
    }
  }

  /** The drops of both groups of events are counted together. */
  faults(): readonly string[] {
    const { delivered, rejected } = this.#services;
    const { locks, propagation, notifications, jobs } = this.#counts;
    const events = { counted: locks.counted + propagation.counted, dropped: locks.dropped };
    const compare = (kind: string, sent: number, { counted: isCounted, dropped }: Counted) => {
      if (isCounted + dropped !== sent)
        this.#faults.push(`${kind}: ${sent} were delivered, ${isCounted} counted, ${dropped} dropped`);
    };
    compare('events', delivered.locks.size + delivered.propagation.size, events);
    compare('notifications', delivered.notifications.size, notifications);
    compare('jobs', delivered.jobs.size, jobs);
    const missed = this.#missed - this.#missedBefore;
    if (missed !== 1) this.#faults.push(`${missed} missed events were found, and one poll was lost`);
    // In an hour a token expires, whatever its time says.
    const hours = this.#plan.troubles.reduce((sum, { isHourly, polls }) => sum + (isHourly ? polls : 0), 0);
    if (rejected > 2 + this.#plan.restarts.size + hours) this.#faults.push(`${rejected} requests had an expired token`);
    this.#judgeHistory();
    return this.#faults;
  }

  #start(): Process {
    return startProcess(this.#services, this.#file, this.#receiver);
  }

  /** How many announced events never arrived. */
  get #missed(): number {
    return this.#process.gfa.ownValues?.().get('filer_exporter_event_bookmarks_missed_total') ?? Number.NaN;
  }

  #through<Result>(work: Promise<Result>): Promise<Result> {
    return this.#services.clock.through(work, 1);
  }

  async #restart(how: 'ended' | 'killed'): Promise<void> {
    if (how === 'ended') await this.#process.keeper.save();
    this.#process.keeper.release();
    this.#process = this.#start();
    await this.#process.keeper.load(this.#process.kept);
    this.#counts.jobs = counted();
    this.#services.restarted();
  }

  async #read(task: Task | undefined, kinds: readonly EventKind[]): Promise<readonly Sample[]> {
    if (task === undefined) return [];
    const { remote } = this.#process;
    try {
      const result: PollResult = await this.#through(task.poll(going, remote.windowOf(task)));
      await remote.accept(task, result);
      const drops: ReadonlyMap<DropReason, number> = result.drops;
      for (const [reason, count] of drops) {
        const [kind] = kinds;
        if (kind !== undefined && reason === 'late') this.#counts[kind].dropped += count;
      }
      return [...result.samples];
    } catch (error) {
      remote.release(task.id);
      const { poll } = this.#services;
      if (poll >= this.#calm + MEASURED) this.#faults.push(`poll ${poll}: ${String(error)}`);
      return [];
    }
  }

  /** `since`: how many polls the trouble has been over. */
  #judge(gfa: readonly Sample[], portal: readonly Sample[], since: number): void {
    const { poll, now, lockState, isWithheld } = this.#services;
    const value = (samples: readonly Sample[], name: string) => samples.find((sample) => sample.name === name)?.value;
    const expectIs = (what: string, is: number | undefined, should: number) => {
      if (is === undefined || !(Math.abs(is - should) <= 1.001))
        this.#faults.push(`${since} after: ${what} is ${is}, not ${should}`);
    };
    // States are those of the newest response at any time.
    expectIs('time to protect', value(gfa, 'filer_volume_time_to_protect_seconds'), poll);
    if (since < 0) return;
    expectIs('propagation', value(gfa, 'filer_propagation_latest_seconds'), poll);
    const state = gfa.find(({ name }) => name === 'filer_lock_state')?.labels.lock_state;
    if (!isWithheld && state !== lockState.toLowerCase()) this.#faults.push(`${since} after: the lock is ${state}`);
    const load = (value(portal, 'filer_appliance_cpu_utilization_ratio') ?? Number.NaN) * 100;
    // A request that also catches up ends at the measured clock.
    if (since >= MEASURED || !this.#plan.troubles.some(movesAll))
      expectIs('processor', load, this.#services.loadAt(now - TELEMETRY_DELAY));
    if (since < MEASURED) return;
    expectIs('check-in', value(gfa, 'filer_volume_last_checkin_timestamp_seconds'), now - 7);
    expectIs('unprotected data', value(gfa, 'filer_oldest_unprotected_data_timestamp_seconds'), now - 62);
    expectIs('the time of a series', value(portal, 'filer_appliance_series_timestamp_seconds'), now - TELEMETRY_DELAY);
    for (const { name, value: time } of [...gfa, ...portal])
      if (name.endsWith('timestamp_seconds') && time > now + 1) this.#faults.push(`${since} after: ${name} is ahead`);
    const sum = (samples: readonly Sample[], name: string) =>
      samples.filter((sample) => sample.name === name).reduce((all, sample) => all + sample.value, 0);
    this.#counts.locks.counted = sum(gfa, 'filer_lock_events_total');
    this.#counts.propagation.counted = sum(gfa, 'filer_propagation_duration_seconds_count');
    this.#counts.notifications.counted = sum(portal, 'filer_notifications_by_severity_total');
    this.#counts.jobs.counted = sum(portal, 'filer_jobs_finished_total');
  }

  /**
   * The receiver has each minute once, except those up to which telemetry was delivered with wrong times, and those that
   * are too old to be caught up when the clock of the service was wrong for hours.
   */
  #judgeHistory(): void {
    const { now, begun } = this.#services;
    const moves = this.#plan.troubles.filter(movesAll);
    const isMoved = moves.length > 0;
    const minuteOf = (time: number) => Math.ceil((time - begun) / MINUTE);
    const first = Math.max(
      -13,
      minuteOf(this.#wrongUntil) + FUTURE_MS / 60_000 + (isMoved ? 2 : 1),
      // A poll asks milliseconds after its minute, so that minute is not the first of those that are caught up.
      minuteOf(this.#longUntil) - CATCH_UP / MINUTE + MEASURED + 1,
    );
    const held = [...this.#receiver.series].find(([key]) => key.includes('cpu_utilization'))?.[1];
    const missing: number[] = [];
    // The newest minute is not complete, and the last poll has brought the minute before it.
    const last = Math.floor((now - TELEMETRY_DELAY - begun) / MINUTE) - 1;
    for (let minute = first; minute <= last; minute += 1) {
      const load = held?.get((begun + minute * MINUTE) * 1000);
      if (Math.abs((load ?? 0) * 100 - this.#services.loadAt(begun + minute * MINUTE)) > 0.001) missing.push(minute);
    }
    if (missing.length > 0) this.#faults.push(`history: not delivered: minutes ${missing.join(', ')}`);
    // A cursor that is set back has an hour sent again.
    if (this.#receiver.repeated > 0 && this.#plan.restarts.size === 0 && !isMoved)
      this.#faults.push(`history: ${this.#receiver.repeated} points were sent twice`);
    const { cursors } = this.#process.remote;
    const lost = [...cursors.lost.values()].reduce((sum, seconds) => sum + seconds, 0);
    // Two restarts while a clock is wrong may set a cursor back, and forget what was delivered before. By a clock that moves
    // by more than is caught up, the time between is lost.
    const mayLose =
      this.#plan.restarts.size > 1 || this.#longUntil > 0 || moves.some(({ seconds }) => Math.abs(seconds) > CATCH_UP);
    if (lost > 0 && !mayLose) this.#faults.push(`history: ${lost} s are reported as lost`);
    const cursor = cursors.get(`portal/${SERIAL}/cpu_utilization`);
    for (const [what, time] of [
      ['cursor', cursor?.at],
      ['end', cursor?.seen],
    ] as const)
      if (time === undefined || time > now * 1000 + FUTURE_MS)
        this.#faults.push(`history: its ${what} is at ${time === undefined ? time : iso(time / 1000)}`);
  }
}

function afterOf(trouble: Trouble): number {
  if (movesAll(trouble)) return AFTER.ahead;
  if (trouble.isHourly) return AFTER.hours;
  return trouble.culprit === 'telemetry' ? AFTER.telemetry : AFTER.usual;
}

/** Whether the clock of the service and its telemetry are wrong together, by more than their clocks may differ. */
function movesAll({ culprit, seconds }: Trouble): boolean {
  return culprit === 'the service' && Math.abs(seconds) * 1000 > FUTURE_MS;
}

function counted(): Counted {
  return { counted: 0, dropped: 0 };
}

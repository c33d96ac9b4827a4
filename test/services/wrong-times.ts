import type { RequestListener } from 'node:http';
import type { PollResult } from '../../src/contract/poll-result.ts';
import type { Task } from '../../src/contract/task.ts';
import { parsePeriod } from '../../src/demo/portal/period.ts';
import { FUTURE_MS } from '../../src/history/points.ts';
import { RemoteWrite } from '../../src/history/remote-write.ts';
import type { DropReason, Sample } from '../../src/metrics/samples.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { Secret } from '../../src/runtime/secret.ts';
import { GfaClient } from '../../src/services/gfa/client.ts';
import { GfaCollector } from '../../src/services/gfa/collector.ts';
import { GROUPS } from '../../src/services/gfa/families.ts';
import { PortalClient } from '../../src/services/portal/client.ts';
import { PortalCollector } from '../../src/services/portal/collector.ts';
import { TokenSource } from '../../src/services/portal/token.ts';
import { StateKeeper } from '../../src/state/keeper.ts';
import { MemoryReceiver } from '../history/memory-receiver.ts';
import { ledgerSettings } from '../support/gfa-answers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { clientOf, going, noLog } from '../support/mock-api.ts';
import { jwt, userKey, uuid } from '../support/portal-parts.ts';

/*
 * Every time that can be wrong, for as long as it can: services that have one event of each kind between two polls, a
 * receiver of remote write, a state file, and a model that knows only what the services delivered.
 */

const RECORDS = [
  'filer',
  'volume',
  'lock',
  'propagation',
  'bookmark',
  'telemetry',
  'notification',
  'job',
  'token',
] as const;
const CULPRITS = [...RECORDS, 'request_time', 'Date', 'this machine'] as const;
type Culprit = (typeof CULPRITS)[number];

const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;
const SIZES = { '30 s': 30, 'an hour': HOUR, '25 h': 25 * HOUR, 'ten years': 3652 * DAY } as const;

/** The minutes of telemetry that were delivered with wrong times are over after so many polls. */
const TELEMETRY_AFTER = 14;

/** In polls a minute apart: the clock of a service is measured again after three. */
const [BEFORE, LASTING, MEASURED, AFTER] = [4, 7, 3, 8];
const SERIAL = uuid(1);

/** The telemetry of a minute arrives so many seconds after it has begun. */
const TELEMETRY_DELAY = 5 * MINUTE;

/** One time is wrong by so many seconds, during so many polls. */
interface Trouble {
  readonly culprit: Culprit;
  readonly seconds: number;
  readonly from: number;
  readonly polls: number;
}

/** What is wrong, and before which polls the process is restarted: it ends in order, or is killed. */
export interface Plan {
  readonly name: string;
  readonly troubles: readonly Trouble[];
  readonly restarts: ReadonlyMap<number, 'ended' | 'killed'>;
}

/** Before which poll a plan is restarted, and how, in turns: not at all, in the middle of the error, at its end, and after it. */
const RESTARTS = [
  undefined,
  ...([0.5, 1] as const).flatMap((share) => (['ended', 'killed'] as const).map((how) => ({ share, more: 0, how }))),
  { share: 1, more: 1, how: 'killed' },
] as const;

/** Each size of an error of each time, ahead and behind, once and for seven polls, with a restart in turns. */
export const PLANS: readonly Plan[] = CULPRITS.flatMap((culprit) =>
  Object.entries(SIZES).flatMap(([size, seconds]) =>
    [1, -1].flatMap((sign) =>
      [1, LASTING].map((polls) => ({ culprit, size, seconds: sign * seconds, from: BEFORE, polls })),
    ),
  ),
).map(({ size, ...trouble }, index) => {
  const { culprit, seconds, polls } = trouble;
  const restart = RESTARTS[index % RESTARTS.length];
  const poll = BEFORE + Math.ceil(polls * (restart?.share ?? 0)) + (restart?.more ?? 0);
  const times = polls === 1 ? 'once' : `in ${polls} polls`;
  return {
    name: `${culprit} ${size} ${seconds > 0 ? 'ahead' : 'behind'} ${times}${restart ? `, ${restart.how} before poll ${poll}` : ''}`,
    troubles: [trouble],
    restarts: new Map(restart && [[poll, restart.how]]),
  };
});

/** Up to three errors at once, of any size, and up to two restarts. */
export function drawnPlan(seed: number): Plan {
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const troubles = Array.from({ length: 1 + below(3) }, () => ({
    culprit: CULPRITS[below(CULPRITS.length)] ?? 'Date',
    // From half a minute to ten years, each magnitude equally often.
    seconds: (random() < 0.5 ? -1 : 1) * Math.round(30 * (SIZES['ten years'] / 30) ** random()),
    from: 1 + below(LASTING),
    polls: 1 + below(LASTING),
  }));
  const restarts = new Map(
    Array.from({ length: below(3) }, () => [2 + below(2 * LASTING), random() < 0.5 ? 'ended' : 'killed'] as const),
  );
  const told = troubles.map(
    ({ culprit, seconds, from, polls }) => `${culprit} by ${seconds} s in ${from} to ${from + polls - 1}`,
  );
  const name = `${seed}: ${[...told, ...[...restarts].map(([poll, how]) => `${how} before ${poll}`)].join(', ')}`;
  return { name, troubles, restarts };
}

/** What is wrong after the troubles of each plan, by its name. */
export async function faultsOf(plans: readonly Plan[]): Promise<Readonly<Record<string, readonly string[]>>> {
  const wrong: Record<string, readonly string[]> = {};
  for (const plan of plans) {
    const world = new World(plan);
    await world.play();
    const faults = world.faults();
    if (faults.length > 0) wrong[plan.name] = faults.slice(0, 4);
  }
  return wrong;
}

type EventKind = 'locks' | 'propagation' | 'notifications' | 'jobs';

/** What a kind of event was delivered as, and what of it became. */
interface Counted {
  readonly delivered: Set<string>;
  counted: number;
  dropped: number;
}

/** The parts of one process. */
interface Process {
  readonly gfa: GfaCollector;
  readonly portal: PortalCollector;
  readonly remote: RemoteWrite;
  readonly keeper: StateKeeper;
}

class World {
  readonly clock = new ManualClock(Date.UTC(2026, 2, 2, 10));
  readonly #begun = this.clock.now() / 1000;
  readonly #plan: Plan;
  readonly #calm: number;
  readonly #end: number;
  readonly #dispatcher = new MemoryDispatcher((request, response) => this.#respond(request, response));
  readonly #file = new MemoryStore();
  readonly #receiver = new MemoryReceiver();
  readonly #notices: { readonly id: string; readonly at: number }[] = [];
  readonly #jobs: object[] = [];
  readonly #counts: Record<EventKind, Counted> = {
    locks: counted(),
    propagation: counted(),
    notifications: counted(),
    jobs: counted(),
  };
  readonly #faults: string[] = [];
  #process = this.#start();
  #startedBefore = 0;
  #poll = 0;
  /** The lock events of one poll after the trouble are lost, which the bookmark has to show. */
  #isWithheld = false;
  #missedBefore = 0;
  #tokens = 0;
  #tokenUntil = 0;
  #rejected = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    const ends = plan.troubles.map(({ from, polls }) => from + polls);
    this.#calm = Math.max(...ends, ...plan.restarts.keys());
    this.#end = this.#calm + (plan.troubles.some(({ culprit }) => culprit === 'telemetry') ? TELEMETRY_AFTER : AFTER);
  }

  async play(): Promise<void> {
    await this.#process.keeper.load(this.#parts());
    for (; this.#poll < this.#end; this.#poll += 1) {
      await this.clock.advance(MINUTE * 1000);
      const restart = this.#plan.restarts.get(this.#poll);
      this.#setMachine();
      if (restart !== undefined) await this.#restart(restart);
      this.#happens();
      this.#isWithheld = this.#poll === this.#calm + MEASURED + 1;
      if (this.#isWithheld) this.#missedBefore = this.#process.gfa.ledger.bookmarks.missed;
      const gfa = await this.#read(this.#process.gfa.tasks()[0], ['locks', 'propagation']);
      const own = { cpu_utilization: [], notifications: ['notifications'], jobs: ['jobs'] } as const;
      const portal: Sample[] = [];
      for (const task of this.#process.portal.tasks()) {
        const kinds = own[task.operation as keyof typeof own];
        if (kinds !== undefined) portal.push(...(await this.#read(task, kinds)));
      }
      await this.#process.remote.flush(going);
      this.#judge(gfa, portal, this.#poll - this.#calm);
    }
  }

  /** The drops of both groups of events are counted together. */
  faults(): readonly string[] {
    const { locks, propagation, notifications, jobs } = this.#counts;
    const events = {
      delivered: new Set([...locks.delivered, ...propagation.delivered]),
      counted: locks.counted + propagation.counted,
      dropped: locks.dropped,
    };
    for (const [kind, { delivered, counted: isCounted, dropped }] of Object.entries({ events, notifications, jobs })) {
      if (isCounted + dropped !== delivered.size)
        this.#faults.push(`${kind}: ${delivered.size} were delivered, ${isCounted} counted, ${dropped} dropped`);
    }
    const missed = this.#process.gfa.ledger.bookmarks.missed - this.#missedBefore;
    if (missed !== 1) this.#faults.push(`${missed} missed events were found, and one poll was lost`);
    if (this.#rejected > 2 + this.#plan.restarts.size)
      this.#faults.push(`${this.#rejected} requests had an expired token`);
    this.#judgeHistory();
    return this.#faults;
  }

  /** Unix seconds that are right. */
  get #now(): number {
    return this.#begun + this.clock.monotonic() / 1000;
  }

  /** By how many seconds a time is wrong now. */
  #errorOf(culprit: Culprit): number {
    const now = this.#plan.troubles.filter(
      ({ culprit: other, from, polls }) => other === culprit && this.#poll >= from && this.#poll < from + polls,
    );
    return now.reduce((sum, { seconds }) => sum + seconds, 0);
  }

  /** What is said of a right time. */
  #said(seconds: number, culprit: Culprit): number {
    return seconds + this.#errorOf(culprit);
  }

  #setMachine(): void {
    this.clock.step((this.#said(this.#now, 'this machine') - this.clock.now() / 1000) * 1000);
  }

  #start(): Process {
    const { clock } = this;
    const keeper = new StateKeeper(this.#file, clock, noLog);
    const gfaClient = clientOf('http://api.test/gfa', this.#dispatcher, clock);
    const options = { token: Secret.of('t'), clientKey: 'k', clientKeyHeader: 'x-key', groups: GROUPS };
    const gfa = new GfaCollector({
      client: new GfaClient(gfaClient, options, { clock, random: () => 0 }),
      ledger: ledgerSettings({ serviceClock: gfaClient.serviceClock }),
      intervalMs: MINUTE * 1000,
      keeper,
      clock,
      log: noLog,
    });
    const portalClient = clientOf('http://api.test/portal', this.#dispatcher, clock);
    const tokens = new TokenSource(portalClient, userKey, clock);
    const every = (name: string) => ({ name, intervalMs: MINUTE * 1000 });
    const period = { lookbackMs: 15 * MINUTE * 1000, forgetAfterMs: DAY * 1000 };
    const portal = new PortalCollector(
      new PortalClient(portalClient, tokens, { clock, random: () => 0 }),
      {
        series: [every('cpu_utilization')],
        collectors: [every('notifications'), every('jobs')],
        discoveryIntervalMs: 900_000,
        serials: [SERIAL],
        shard: { index: 0, total: 1 },
        staleAfter: 3,
        binSeconds: MINUTE,
        bounds: [],
        ...period,
      },
      { clock, log: noLog },
    );
    const remote: RemoteWrite = new RemoteWrite(
      { ...period, labels: {}, catchUpMs: 6 * HOUR * 1000, intervalMs: MINUTE * 1000, binMs: MINUTE * 1000 },
      this.#receiver.send,
      { clock, random: () => 0, log: noLog, note: () => keeper.note(remote.cursors) },
    );
    return { gfa, portal, remote, keeper };
  }

  #parts() {
    const { gfa, portal, remote } = this.#process;
    return [gfa, ...portal.context.kept, remote.cursors];
  }

  async #restart(how: 'ended' | 'killed'): Promise<void> {
    if (how === 'ended') await this.#process.keeper.save();
    this.#process.keeper.release();
    this.#process = this.#start();
    await this.#process.keeper.load(this.#parts());
    // Jobs are not saved: those of the first list are not counted.
    this.#counts.jobs = counted();
    this.#startedBefore = this.#poll;
  }

  async #read(task: Task | undefined, kinds: readonly EventKind[]): Promise<readonly Sample[]> {
    if (task === undefined) return [];
    const { remote } = this.#process;
    try {
      const result: PollResult = await task.poll(going, remote.windowOf(task));
      await remote.accept(task, result);
      const drops: ReadonlyMap<DropReason, number> = result.drops;
      for (const [reason, count] of drops) {
        const [kind] = kinds;
        if (kind !== undefined && reason === 'late') this.#counts[kind].dropped += count;
      }
      return [...result.samples];
    } catch (error) {
      remote.release(task.id);
      if (this.#poll >= this.#calm + MEASURED) this.#faults.push(`poll ${this.#poll}: ${String(error)}`);
      return [];
    }
  }

  #happens(): void {
    const [poll, now] = [this.#poll, this.#now];
    this.#notices.push({ id: `n${poll}`, at: this.#said(now - 5, 'notification') });
    const at = iso(this.#said(now - 5, 'job'));
    this.#jobs.push({ id: `j${poll}`, state: 'completed', created_at: at, last_updated_at: at });
  }

  get #lockState(): string {
    return this.#poll % 2 === 0 ? 'RELEASED' : 'ACQUIRED';
  }

  readonly #respond: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(String(request.url), 'http://api.test');
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { date: new Date(this.#said(this.#now, 'Date') * 1000).toUTCString() });
      response.end(Buffer.from(JSON.stringify(body)));
    };
    if (pathname.includes('/auth/token')) {
      this.#tokens += 1;
      this.#tokenUntil = this.#now + 10 * MINUTE;
      const exp = this.#said(this.#tokenUntil, 'token');
      answer(200, { access_token: jwt({ exp, number: this.#tokens }) });
      return;
    }
    if (pathname.startsWith('/portal') && this.#now >= this.#tokenUntil) {
      this.#rejected += 1;
      answer(401, { message: 'expired' });
      return;
    }
    if (pathname === '/gfa/data') answer(200, this.#data());
    else if (pathname === '/portal/jobs') {
      if (this.#poll > this.#startedBefore) this.#counts.jobs.delivered.add(`j${this.#poll}`);
      answer(200, { items: this.#jobs });
    } else if (pathname === '/portal/notifications') {
      const from = Date.parse(String(searchParams.get('start_date'))) / 1000;
      if (from < this.#now - 30 * DAY) answer(422, { message: 'at most 30 days' });
      else {
        const items = this.#notices.filter(({ at }) => at >= from);
        for (const { id } of items) this.#counts.notifications.delivered.add(id);
        answer(200, {
          items: items.map(({ id, at }) => ({ id, severity: 'ALERT', generated_at: iso(at) })),
          metadata: { iterator_id: null },
        });
      }
    } else {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => {
        body += text;
      });
      request.on('end', () => {
        const items = this.#telemetry(String(JSON.parse(body).period));
        if (items === undefined) answer(422, { message: 'not a period' });
        else answer(200, { items });
      });
    }
  };

  /** The records of a period, one for each minute since 15 minutes before the start. */
  #telemetry(asked: string): readonly object[] | undefined {
    const period = parsePeriod(asked, this.#now * 1000);
    if (typeof period === 'string') return undefined;
    const first = Math.max(this.#begun - 15 * MINUTE, Math.ceil(period.startMs / 60_000) * MINUTE);
    const items: object[] = [];
    for (let at = first; at <= Math.min(period.endMs / 1000, this.#now - TELEMETRY_DELAY); at += MINUTE)
      items.push({ time: this.#said(at, 'telemetry') * 1000, cpu_usage: String(this.#loadAt(at)) });
    return items;
  }

  /** In percent. */
  #loadAt(seconds: number): number {
    return 20 + (seconds - this.#begun) / MINUTE;
  }

  #data() {
    const [poll, now] = [this.#poll, this.#now];
    const place = { filer_guid: 'f1', filer_title: 'one', volume_guid: 'v1', volume_title: 'projects' };
    const lockAt = now - 10;
    const lock = (at: number, lock_state: string) => ({
      ...place,
      timestamp: iso(this.#said(at, 'lock')),
      lock_phase: 'P2',
      lock_state,
      lock_duration: poll,
    });
    const locks = this.#isWithheld ? [] : [lock(lockAt - 5, 'WAITING'), lock(lockAt, this.#lockState)];
    const propagation = [
      { ...place, timestamp: iso(this.#said(now - 8, 'propagation')), kind: 'data', prop_seconds: poll },
    ];
    for (const { lock_state } of locks) this.#counts.locks.delivered.add(`${poll} ${lock_state}`);
    this.#counts.propagation.delivered.add(String(poll));
    const seen = (culprit: 'filer' | 'volume') => iso(this.#said(now - 2, culprit));
    return {
      info: {
        account: 'a',
        volumes: ['v1'],
        request_time: iso(this.#said(now, 'request_time')),
        last_info: iso(now - 2),
        last_lock_event: iso(this.#said(lockAt, 'bookmark')),
        last_propagation: iso(this.#said(now - 8, 'bookmark')),
      },
      metrics: {
        volumes: [{ ...place, timestamp: seen('volume'), mode: 'Active', profile: 'default', time_to_protect: poll }],
        filers: [{ ...place, timestamp: seen('filer'), last_checkin: 5, oldest_unprotected_data: 60 }],
        locks,
        propagation,
      },
    };
  }

  /** `since`: how many polls the trouble has been over. */
  #judge(gfa: readonly Sample[], portal: readonly Sample[], since: number): void {
    const [poll, now] = [this.#poll, this.#now];
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
    if (!this.#isWithheld && state !== this.#lockState.toLowerCase())
      this.#faults.push(`${since} after: the lock is ${state}`);
    const load = (value(portal, 'filer_appliance_cpu_utilization_ratio') ?? Number.NaN) * 100;
    expectIs('processor', load, this.#loadAt(now - TELEMETRY_DELAY));
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

  /** The receiver has each minute once, except those up to which telemetry itself was delivered with wrong times. */
  #judgeHistory(): void {
    const wrong = this.#plan.troubles.filter(({ culprit }) => culprit === 'telemetry');
    const ends = wrong.map(({ from, polls }) => from + polls + FUTURE_MS / 60_000 + 1);
    const first = Math.max(-14, ...ends);
    const held = [...this.#receiver.series].find(([key]) => key.includes('cpu_utilization'))?.[1].times;
    const missing: number[] = [];
    // The newest minute is not complete, and the last poll has brought the minute before it.
    const last = Math.floor((this.#now - TELEMETRY_DELAY - this.#begun) / MINUTE) - 1;
    for (let minute = first; minute <= last; minute += 1) {
      const load = held?.get((this.#begun + minute * MINUTE) * 1000);
      if (Math.abs((load ?? 0) * 100 - this.#loadAt(this.#begun + minute * MINUTE)) > 0.001) missing.push(minute);
    }
    if (missing.length > 0) this.#faults.push(`history: not delivered: minutes ${missing.join(', ')}`);
    if (this.#receiver.repeated > 0 && this.#plan.restarts.size === 0)
      this.#faults.push(`history: ${this.#receiver.repeated} points were sent twice`);
    const { cursors } = this.#process.remote;
    const lost = [...cursors.lost.values()].reduce((sum, seconds) => sum + seconds, 0);
    // Two restarts while a clock is wrong may set a cursor back, and forget what was delivered before.
    if (lost > 0 && this.#plan.restarts.size < 2) this.#faults.push(`history: ${lost} s are reported as lost`);
    const cursor = cursors.get(`portal/${SERIAL}/cpu_utilization`);
    for (const [what, time] of [
      ['cursor', cursor?.at],
      ['end', cursor?.seen],
    ] as const)
      if (time === undefined || time > this.#now * 1000 + FUTURE_MS)
        this.#faults.push(`history: its ${what} is at ${time === undefined ? time : iso(time / 1000)}`);
  }
}

function counted(): Counted {
  return { delivered: new Set(), counted: 0, dropped: 0 };
}

function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

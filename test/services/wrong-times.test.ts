import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import type { PollResult } from '../../src/contract/poll-result.ts';
import type { DropReason, Sample } from '../../src/metrics/samples.ts';
import { Secret } from '../../src/runtime/secret.ts';
import { GfaClient } from '../../src/services/gfa/client.ts';
import { GfaCollector } from '../../src/services/gfa/collector.ts';
import { GROUPS } from '../../src/services/gfa/families.ts';
import { PortalClient } from '../../src/services/portal/client.ts';
import { PortalCollector } from '../../src/services/portal/collector.ts';
import { TokenSource } from '../../src/services/portal/token.ts';
import { ledgerSettings } from '../support/gfa-answers.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { clientOf, going, noLog } from '../support/mock-api.ts';
import { jwt, userKey, uuid } from '../support/portal-parts.ts';

/*
 * Every time that can be wrong, for as long as it can: a service that has one event of each kind between two polls, and a
 * model that knows only what the service delivered.
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

const HOUR = 3600;
const SIZES = { '30 s': 30, 'an hour': HOUR, '25 h': 25 * HOUR, 'ten years': 3652 * 24 * HOUR } as const;

/** In polls a minute apart: the clock of a service is measured again after three. */
const [BEFORE, LASTING, MEASURED, AFTER] = [4, 7, 3, 8];
const DAY = 24 * HOUR;
const SERIAL = uuid(1);

interface Trouble {
  readonly culprit: Culprit;
  readonly seconds: number;
  readonly polls: number;
}

/** What a kind of event was delivered as, and what of it became. */
interface Counted {
  readonly delivered: Set<string>;
  counted: number;
  dropped: number;
}

class World {
  readonly clock = new ManualClock(Date.UTC(2026, 2, 2, 10));
  readonly #begun = this.clock.now() / 1000;
  readonly #trouble: Trouble;
  readonly #gfa: GfaCollector;
  readonly #portal: PortalCollector;
  readonly #notices: { readonly id: string; readonly at: number }[] = [];
  readonly #jobs: object[] = [];
  readonly counts = { locks: counted(), propagation: counted(), notifications: counted(), jobs: counted() };
  readonly faults: string[] = [];
  poll = 0;
  /** The lock events of one poll after the trouble are lost, which the bookmark has to show. */
  isWithheld = false;
  #missedBefore = 0;
  #tokens = 0;
  #tokenUntil = 0;
  #rejected = 0;

  constructor(trouble: Trouble) {
    this.#trouble = trouble;
    const dispatcher = new MemoryDispatcher(this.#listener);
    const { clock } = this;
    const gfa = clientOf('http://api.test/gfa', dispatcher, clock);
    const options = { token: Secret.of('t'), clientKey: 'k', clientKeyHeader: 'x-key', groups: GROUPS };
    this.#gfa = new GfaCollector({
      client: new GfaClient(gfa, options, { clock, random: () => 0 }),
      ledger: ledgerSettings({ serviceClock: gfa.serviceClock }),
      intervalMs: 60_000,
      keeper: undefined,
      clock,
      log: noLog,
    });
    const portal = clientOf('http://api.test/portal', dispatcher, clock);
    const client = new PortalClient(portal, new TokenSource(portal, userKey, clock), { clock, random: () => 0 });
    const every = (name: string) => ({ name, intervalMs: 60_000 });
    this.#portal = new PortalCollector(
      client,
      {
        series: [every('cpu_utilization')],
        collectors: [every('notifications'), every('jobs')],
        discoveryIntervalMs: 900_000,
        serials: [SERIAL],
        shard: { index: 0, total: 1 },
        staleAfter: 3,
        forgetAfterMs: DAY * 1000,
        lookbackMs: 900_000,
        binSeconds: 60,
        bounds: [],
      },
      { clock, log: noLog },
    );
  }

  /** Unix seconds that are right. */
  get now(): number {
    return this.#begun + this.clock.monotonic() / 1000;
  }

  get isTroubled(): boolean {
    return this.poll >= BEFORE && this.poll < BEFORE + this.#trouble.polls;
  }

  /** What is said of a right time. */
  #said(seconds: number, culprit: Culprit): number {
    return seconds + (this.isTroubled && this.#trouble.culprit === culprit ? this.#trouble.seconds : 0);
  }

  async play(): Promise<void> {
    const { culprit, seconds, polls } = this.#trouble;
    for (; this.poll < BEFORE + polls + AFTER; this.poll += 1) {
      await this.clock.advance(60_000);
      if (culprit === 'this machine' && this.poll === BEFORE) this.clock.step(seconds * 1000);
      if (culprit === 'this machine' && this.poll === BEFORE + polls) this.clock.step(-seconds * 1000);
      this.#happens();
      this.isWithheld = this.poll === BEFORE + polls + MEASURED + 1;
      if (this.isWithheld) this.#missedBefore = this.#gfa.ledger.bookmarks.missed;
      const gfa = await this.#read(this.#gfa.tasks()[0]?.poll(going), ['locks', 'propagation']);
      const own = { cpu_utilization: [], notifications: ['notifications'], jobs: ['jobs'] } as const;
      const portal: Sample[] = [];
      for (const task of this.#portal.tasks()) {
        const kinds = own[task.operation as keyof typeof own];
        if (kinds !== undefined) portal.push(...(await this.#read(task.poll(going), kinds)));
      }
      this.#judge(gfa, portal, this.poll - BEFORE - polls);
    }
  }

  async #read(work: Promise<PollResult> | undefined, kinds: readonly (keyof World['counts'])[]) {
    try {
      const { samples, drops = new Map<DropReason, number>() } = (await work) ?? { samples: [] };
      for (const [reason, count] of drops) {
        const [kind] = kinds;
        if (kind !== undefined && reason === 'late') this.counts[kind].dropped += count;
      }
      return [...samples];
    } catch (error) {
      if (this.poll < BEFORE || this.poll >= BEFORE + this.#trouble.polls + MEASURED)
        this.faults.push(`poll ${this.poll}: ${String(error)}`);
      return [];
    }
  }

  #happens(): void {
    const { poll, now } = this;
    this.#notices.push({ id: `n${poll}`, at: this.#said(now - 5, 'notification') });
    const at = iso(this.#said(now - 5, 'job'));
    this.#jobs.push({ id: `j${poll}`, state: 'completed', created_at: at, last_updated_at: at });
  }

  get lockState(): string {
    return this.poll % 2 === 0 ? 'RELEASED' : 'ACQUIRED';
  }

  readonly #listener: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(String(request.url), 'http://api.test');
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { date: new Date(this.#said(this.now, 'Date') * 1000).toUTCString() });
      response.end(Buffer.from(JSON.stringify(body)));
    };
    if (pathname.includes('/auth/token')) {
      this.#tokens += 1;
      this.#tokenUntil = this.now + 600;
      const exp = this.#said(this.#tokenUntil, 'token');
      answer(200, { access_token: jwt({ exp, number: this.#tokens }) });
      return;
    }
    if (pathname.startsWith('/portal') && this.now >= this.#tokenUntil) {
      this.#rejected += 1;
      answer(401, { message: 'expired' });
      return;
    }
    if (pathname === '/gfa/data') answer(200, this.#data());
    else if (pathname === '/portal/jobs') {
      if (this.poll > 0) this.counts.jobs.delivered.add(`j${this.poll}`);
      answer(200, { items: this.#jobs });
    } else if (pathname === '/portal/notifications') {
      const from = Date.parse(String(searchParams.get('start_date'))) / 1000;
      if (from < this.now - 30 * DAY) answer(422, { message: 'at most 30 days' });
      else {
        const items = this.#notices.filter(({ at }) => at >= from);
        for (const { id } of items) this.counts.notifications.delivered.add(id);
        answer(200, {
          items: items.map(({ id, at }) => ({ id, severity: 'ALERT', generated_at: iso(at) })),
          metadata: { iterator_id: null },
        });
      }
    } else {
      const time = this.#said(this.now - 300, 'telemetry') * 1000;
      answer(200, { items: [{ time, cpu_usage: String(this.poll) }] });
    }
  };

  #data() {
    const { poll, now } = this;
    const place = { filer_guid: 'f1', filer_title: 'one', volume_guid: 'v1', volume_title: 'projects' };
    const lockAt = now - 10;
    const locks = [
      {
        ...place,
        timestamp: iso(this.#said(lockAt - 5, 'lock')),
        lock_phase: 'P2',
        lock_state: 'WAITING',
        lock_duration: poll,
      },
      {
        ...place,
        timestamp: iso(this.#said(lockAt, 'lock')),
        lock_phase: 'P2',
        lock_state: this.lockState,
        lock_duration: poll,
      },
    ];
    const propagation = [
      { ...place, timestamp: iso(this.#said(now - 8, 'propagation')), kind: 'data', prop_seconds: poll },
    ];
    if (!this.isWithheld) for (const [index] of locks.entries()) this.counts.locks.delivered.add(`${poll}.${index}`);
    this.counts.propagation.delivered.add(String(poll));
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
        locks: this.isWithheld ? [] : locks,
        propagation,
      },
    };
  }

  /** `since`: how many polls the trouble has been over. */
  #judge(gfa: readonly Sample[], portal: readonly Sample[], since: number): void {
    const { poll, now } = this;
    const value = (samples: readonly Sample[], name: string) => samples.find((sample) => sample.name === name)?.value;
    const expectIs = (what: string, is: number | undefined, should: number) => {
      if (is === undefined || !(Math.abs(is - should) <= 1.001))
        this.faults.push(`${since} after: ${what} is ${is}, not ${should}`);
    };
    // States are those of the newest response at any time.
    expectIs('time to protect', value(gfa, 'filer_volume_time_to_protect_seconds'), poll);
    if (since < 0) return;
    expectIs('propagation', value(gfa, 'filer_propagation_latest_seconds'), poll);
    const state = gfa.find(({ name }) => name === 'filer_lock_state')?.labels.lock_state;
    if (!this.isWithheld && state !== this.lockState.toLowerCase())
      this.faults.push(`${since} after: the lock is ${state}`);
    expectIs('processor', (value(portal, 'filer_appliance_cpu_utilization_ratio') ?? Number.NaN) * 100, poll);
    if (since < MEASURED) return;
    expectIs('check-in', value(gfa, 'filer_volume_last_checkin_timestamp_seconds'), now - 7);
    expectIs('unprotected data', value(gfa, 'filer_oldest_unprotected_data_timestamp_seconds'), now - 62);
    expectIs('the time of a series', value(portal, 'filer_appliance_series_timestamp_seconds'), now - 300);
    for (const { name, value: time } of [...gfa, ...portal])
      if (name.endsWith('timestamp_seconds') && time > now + 1) this.faults.push(`${since} after: ${name} is ahead`);
    const sum = (samples: readonly Sample[], name: string) =>
      samples.filter((sample) => sample.name === name).reduce((all, sample) => all + sample.value, 0);
    this.counts.locks.counted = sum(gfa, 'filer_lock_events_total');
    this.counts.propagation.counted = sum(gfa, 'filer_propagation_duration_seconds_count');
    this.counts.notifications.counted = sum(portal, 'filer_notifications_by_severity_total');
    this.counts.jobs.counted = sum(portal, 'filer_jobs_finished_total');
  }

  /** The drops of both groups of events are counted together. */
  ends(): readonly string[] {
    const { locks, propagation, notifications, jobs } = this.counts;
    const events = { ...counted(), counted: locks.counted + propagation.counted, dropped: locks.dropped };
    const sums = { events, notifications, jobs };
    const sizes = {
      events: locks.delivered.size + propagation.delivered.size,
      notifications: notifications.delivered.size,
      jobs: jobs.delivered.size,
    };
    for (const [kind, { counted: isCounted, dropped }] of Object.entries(sums)) {
      const delivered = sizes[kind as keyof typeof sizes];
      if (isCounted + dropped !== delivered)
        this.faults.push(`${kind}: ${delivered} were delivered, ${isCounted} counted, ${dropped} dropped`);
    }
    const missed = this.#gfa.ledger.bookmarks.missed - this.#missedBefore;
    if (missed !== 1) this.faults.push(`${missed} missed events were found, and one poll was lost`);
    if (this.#rejected > 2) this.faults.push(`${this.#rejected} requests had an expired token`);
    return this.faults;
  }
}

function counted(): Counted {
  return { delivered: new Set(), counted: 0, dropped: 0 };
}

function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

test.each(CULPRITS)(
  'after the time of %s was wrong, every state is right and every event counted or dropped',
  async (culprit) => {
    const wrong: Record<string, readonly string[]> = {};
    for (const [size, seconds] of Object.entries(SIZES)) {
      for (const sign of [1, -1]) {
        for (const polls of [1, LASTING]) {
          const world = new World({ culprit, seconds: sign * seconds, polls });
          await world.play();
          const faults = world.ends();
          if (faults.length > 0)
            wrong[`${size} ${sign > 0 ? 'ahead' : 'behind'} for ${polls} polls`] = faults.slice(0, 4);
        }
      }
    }
    expect(wrong).toEqual({});
  },
);

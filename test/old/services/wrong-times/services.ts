import type { RequestListener } from 'node:http';
import { parsePeriod } from '../../../src/demo/portal/period.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { jwt, uuid } from '../../support/portal-parts.ts';
import { type Culprit, DAY, HOUR, MINUTE, type Plan } from './plans.ts';

export const SERIAL = uuid(1);

/** The telemetry of a minute arrives so many seconds after it has begun. */
export const TELEMETRY_DELAY = 5 * MINUTE;

export type EventKind = 'locks' | 'propagation' | 'notifications' | 'jobs';

/** Services that have one event of each kind between two polls, and report some times wrong, as planned. */
export class WrongServices {
  readonly clock = new ManualClock(Date.UTC(2026, 2, 2, 10));
  readonly begun = this.clock.now() / 1000;
  readonly #plan: Plan;
  readonly #notices: { readonly id: string; readonly at: number }[] = [];
  readonly #jobs: object[] = [];
  /** The events that were delivered; of jobs, those since the last restart. */
  readonly delivered: Record<EventKind, Set<string>> = {
    locks: new Set(),
    propagation: new Set(),
    notifications: new Set(),
    jobs: new Set(),
  };
  poll = 0;
  #startedBefore = 0;
  /** When the next poll is due, in monotonic milliseconds. Polls take some time, which must not add up. */
  #due = 0;
  /** The lock events of this poll are lost, which the bookmark has to show. */
  isWithheld = false;
  /** How many requests had an expired token. */
  rejected = 0;
  #tokens = 0;
  #tokenUntil = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** Unix seconds that are right. */
  get now(): number {
    return this.begun + this.clock.monotonic() / 1000;
  }

  /** By how many seconds a time is wrong now. */
  #errorOf(culprit: Culprit): number {
    const ofService = culprit === 'this machine' ? culprit : 'the service';
    const now = this.troubles.filter(({ culprit: other }) => other === culprit || other === ofService);
    return now.reduce((sum, { seconds }) => sum + seconds, 0);
  }

  /** What is wrong now. */
  get troubles() {
    return this.#plan.troubles.filter(({ from, polls }) => this.poll >= from && this.poll < from + polls);
  }

  /** What is said of a right time. */
  said(seconds: number, culprit: Culprit): number {
    return seconds + this.#errorOf(culprit);
  }

  /** A minute passes, or an hour, in which one event of each kind happens. */
  async timePasses(): Promise<void> {
    this.#due += (this.troubles.some(({ isHourly }) => isHourly) ? HOUR : MINUTE) * 1000;
    await this.clock.advance(this.#due - this.clock.monotonic());
    this.clock.step((this.said(this.now, 'this machine') - this.clock.now() / 1000) * 1000);
    const { poll, now } = this;
    this.#notices.push({ id: `n${poll}`, at: this.said(now - 5, 'notification') });
    const at = iso(this.said(now - 5, 'job'));
    this.#jobs.push({ id: `j${poll}`, state: 'completed', created_at: at, last_updated_at: at });
  }

  /** The exporter was started again. Jobs are not saved, so those of its first list are not counted. */
  restarted(): void {
    this.delivered.jobs.clear();
    this.#startedBefore = this.poll;
  }

  get lockState(): string {
    return this.poll % 2 === 0 ? 'RELEASED' : 'ACQUIRED';
  }

  readonly serve: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(String(request.url), 'http://api.test');
    const answer = (status: number, body: unknown) => {
      response.writeHead(status, { date: new Date(this.said(this.now, 'Date') * 1000).toUTCString() });
      response.end(Buffer.from(JSON.stringify(body)));
    };
    if (pathname.includes('/auth/token')) {
      this.#tokens += 1;
      this.#tokenUntil = this.now + 10 * MINUTE;
      const exp = this.said(this.#tokenUntil, 'token');
      answer(200, { access_token: jwt({ exp, number: this.#tokens }) });
      return;
    }
    if (pathname.startsWith('/portal') && this.now >= this.#tokenUntil) {
      this.rejected += 1;
      answer(401, { message: 'expired' });
      return;
    }
    if (pathname === '/gfa/v1/data') answer(200, this.#data());
    else if (pathname === '/portal/jobs') {
      if (this.poll > this.#startedBefore) this.delivered.jobs.add(`j${this.poll}`);
      answer(200, { items: this.#jobs });
    } else if (pathname === '/portal/notifications') {
      const from = Date.parse(String(searchParams.get('start_date'))) / 1000;
      if (from < this.said(this.now, 'the service') - 30 * DAY) answer(422, { message: 'at most 30 days' });
      else {
        const items = this.#notices.filter(({ at }) => at >= from);
        for (const { id } of items) this.delivered.notifications.add(id);
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
    const ahead = this.said(0, 'the service');
    const period = parsePeriod(asked, (this.now + ahead) * 1000);
    if (typeof period === 'string') return undefined;
    const first = Math.max(this.begun - 15 * MINUTE, Math.ceil((period.startMs / 1000 - ahead) / MINUTE) * MINUTE);
    const last = Math.min(period.endMs / 1000 - ahead, this.now - TELEMETRY_DELAY);
    const items: object[] = [];
    for (let at = first; at <= last; at += MINUTE)
      items.push({ time: this.said(at, 'telemetry') * 1000, cpu_usage: String(this.loadAt(at)) });
    return items;
  }

  /** In percent. */
  loadAt(seconds: number): number {
    return 20 + (seconds - this.begun) / MINUTE;
  }

  #data() {
    const { poll, now } = this;
    const place = { filer_guid: 'f1', filer_title: 'one', volume_guid: 'v1', volume_title: 'projects' };
    const lockAt = now - 10;
    const lock = (at: number, lock_state: string) => ({
      ...place,
      timestamp: iso(this.said(at, 'lock')),
      lock_phase: 'P2',
      lock_state,
      lock_duration: poll,
    });
    const locks = this.isWithheld ? [] : [lock(lockAt - 5, 'WAITING'), lock(lockAt, this.lockState)];
    const propagation = [
      { ...place, timestamp: iso(this.said(now - 8, 'propagation')), kind: 'data', prop_seconds: poll },
    ];
    for (const { lock_state } of locks) this.delivered.locks.add(`${poll} ${lock_state}`);
    this.delivered.propagation.add(String(poll));
    const seen = (culprit: 'filer' | 'volume') => iso(this.said(now - 2, culprit));
    return {
      info: {
        account: 'a',
        volumes: ['v1'],
        request_time: iso(this.said(now, 'request_time')),
        last_info: iso(now - 2),
        last_lock_event: iso(this.said(lockAt, 'bookmark')),
        last_propagation: iso(this.said(now - 8, 'bookmark')),
      },
      metrics: {
        volumes: [{ ...place, timestamp: seen('volume'), mode: 'Active', profile: 'default', time_to_protect: poll }],
        filers: [{ ...place, timestamp: seen('filer'), last_checkin: 5, oldest_unprotected_data: 60 }],
        locks,
        propagation,
      },
    };
  }
}

export function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString();
}

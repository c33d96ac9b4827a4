import { type Fields, OTHER } from '../../../metrics/family.ts';
import { Tally } from '../../../metrics/label-counter.ts';
import { type NoteDrop, type Sample, text, wordOf } from '../../../metrics/samples.ts';
import { dateSeconds } from '../../../metrics/units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { CountingStart } from '../../../runtime/counting-start.ts';
import { accountTasks, type CollectorRow } from '../collector-row.ts';
import { extremeSample } from '../extremes.ts';
import { listed } from '../records.ts';
import { jobsFinished, jobsListed, jobsUnacknowledged, jobTables, oldestUnfinishedJob } from './jobs-tables.ts';

/** Values of a job's state (upstream-api.md 5.8). */
const STATES = ['in_progress', 'completed', 'failed'] as const;

/** The states of a finished job; undocumented states do not count as finished. */
const OVER: readonly string[] = ['completed', 'failed'];

const RESOURCES = ['edge', 'volume', 'cloud_credential'] as const;

const KIND = [{ name: 'resource', known: RESOURCES }, { name: 'action' }] as const;

/** The most finished jobs to remember; the portal lists jobs without pages, so all of them arrive each time. */
const MOST_REMEMBERED = 100_000;

/** The portal's jobs and their results. */
export const jobs: CollectorRow = {
  name: 'jobs',
  intervalMs: 300_000,
  tables: jobTables,
  cost: { account: 1, perAppliance: 0, perVolume: 0 },
  size: { account: 33 },
  create: (parts, intervalMs) => {
    const ledger = new JobLedger(parts.clock, parts.forgetAfterMs);
    return accountTasks(parts, intervalMs, [
      { operation: 'jobs', path: '/jobs', read: (body, note) => ledger.absorb(body, note) },
    ]);
  },
};

/**
 * Counts each job once, when it has finished, also if some lists were missed. Jobs finished before the exporter started
 * are not counted.
 */
export class JobLedger {
  readonly #finished = new Tally([...KIND, { name: 'state', known: OVER }]);
  readonly #clock: Clock;
  readonly #forgetAfterMs: number;
  readonly #start: CountingStart;
  /** When each finished and each unfinished job was last listed, in monotonic milliseconds. */
  readonly #ended = new Map<string, number>();
  readonly #open = new Map<string, number>();
  #hasListed = false;

  /** `forgetAfterMs`: a job that was not listed for so long is forgotten. */
  constructor(clock: Clock, forgetAfterMs: number) {
    this.#clock = clock;
    this.#forgetAfterMs = forgetAfterMs;
    this.#start = new CountingStart(clock);
  }

  /** Adds an answer of `GET /jobs` and returns the samples. */
  *absorb(body: unknown, note: NoteDrop): Generator<void, Sample[]> {
    const list = new Tally([...KIND, { name: 'state', known: STATES }]);
    const unacknowledged = new Tally(KIND);
    const unfinished = new Map<string, Fields[]>();
    const now = this.#clock.monotonic();
    for (const job of listed(body, 'GET /jobs', note)) {
      const id = text(job.id);
      const [resource, action, state] = [wordOf(job.resource), wordOf(job.action), wordOf(job.state)];
      if (id === '') {
        note('record', 'id');
        continue;
      }
      // A state without jobs of this kind is a counted zero.
      for (const word of STATES) list.add([resource, action, word], 0);
      for (const word of OVER) this.#finished.add([resource, action, word], 0);
      list.add([resource, action, state]);
      const isOpen = job.user_acknowledged_at === null || job.user_acknowledged_at === undefined;
      unacknowledged.add([resource, action], state === 'failed' && isOpen ? 1 : 0);
      if (state === 'in_progress') openOf(unfinished, resource).push(job);
      if (OVER.includes(state)) {
        if (this.#isNews(id, job)) this.#finished.add([resource, action, state]);
        keep(this.#ended, id, now);
        this.#open.delete(id);
      } else keep(this.#open, id, now);
      yield;
    }
    this.#hasListed = true;
    for (const jobs of [this.#ended, this.#open]) {
      for (const [id, at] of jobs) if (now - at > this.#forgetAfterMs) jobs.delete(id);
    }
    return [
      ...list.samples(jobsListed.name),
      ...this.#finished.samples(jobsFinished.name),
      ...unacknowledged.samples(jobsUnacknowledged.name),
      ...[...unfinished].flatMap(([resource, open]) => oldestOf(resource, open, note)),
    ];
  }

  /** Whether a finished job has finished since it was last listed, or since the exporter started. */
  #isNews(id: string, job: Fields): boolean {
    if (this.#ended.has(id)) return false;
    if (this.#open.has(id)) return true;
    const at = dateSeconds(job.last_updated_at) ?? dateSeconds(job.created_at);
    return this.#hasListed && (at === undefined || this.#start.includes(at));
  }
}

function keep(jobs: Map<string, number>, id: string, now: number): void {
  if (jobs.has(id) || jobs.size < MOST_REMEMBERED) jobs.set(id, now);
}

function openOf(unfinished: Map<string, Fields[]>, resource: string): Fields[] {
  const known = RESOURCES.find((one) => one === resource) ?? OTHER;
  const open = unfinished.get(known) ?? [];
  unfinished.set(known, open);
  return open;
}

function oldestOf(resource: string, open: readonly Fields[], note: NoteDrop): Sample[] {
  return extremeSample(oldestUnfinishedJob, 'created_at', open, 'least', { resource }, note);
}

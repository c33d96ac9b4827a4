import { type Family, type Fields, OTHER } from '../../../metrics/family.ts';
import { type NoteDrop, type Sample, text, wordOf } from '../../../metrics/samples.ts';
import { Tally } from '../../../metrics/tally.ts';
import { date, dateSeconds, records } from '../../../metrics/units.ts';
import { type CountingClock, CountingStart } from '../../../runtime/counting-start.ts';
import type { CollectorRow } from '../collector-row.ts';
import { extremeSample } from '../extremes.ts';

const STATES = ['in_progress', 'completed', 'failed'] as const;

/** The states of a finished job; undocumented states do not count as finished. */
const OVER = ['completed', 'failed'] as const;

const RESOURCES = ['edge', 'volume', 'cloud_credential'] as const;

const KIND_WORDS = { resource: { field: 'resource', known: RESOURCES }, action: { field: 'action' } } as const;

const jobsListed = {
  name: 'filer_jobs',
  help: 'Jobs in the list of the portal, by resource, action and state.',
  from: records,
  fields: { id: {} },
  wordsFrom: { ...KIND_WORDS, state: { field: 'state', known: STATES } },
} as const satisfies Family;

const jobsFinished = {
  name: 'filer_jobs_finished_total',
  help: 'Jobs finished since the exporter started, by resource, action and state.',
  type: 'counter',
  from: records,
  fields: { id: {} },
  wordsFrom: { ...KIND_WORDS, state: { field: 'state', known: OVER } },
} as const satisfies Family;

const jobsUnacknowledged = {
  name: 'filer_jobs_failed_unacknowledged',
  help: 'Failed jobs without an acknowledgement, by resource and action.',
  from: records,
  fields: { user_acknowledged_at: {} },
  wordsFrom: KIND_WORDS,
} as const satisfies Family;

const oldestUnfinishedJob = {
  name: 'filer_job_oldest_unfinished_timestamp_seconds',
  help: 'Creation time of the oldest unfinished job, by resource; missing if every job is finished.',
  from: date,
  fields: { created_at: {} },
  wordsFrom: { resource: KIND_WORDS.resource },
} as const satisfies Family;

/** The most jobs to remember; the portal lists jobs without pages, so all of them arrive each time. */
const MOST_REMEMBERED = 100_000;

export const jobs: CollectorRow = {
  name: 'jobs',
  intervalMs: 300_000,
  tables: [
    {
      source: 'GET /jobs',
      subject: [],
      families: [jobsListed, jobsFinished, jobsUnacknowledged, oldestUnfinishedJob],
    },
  ],
  size: { account: 33 },
  reads: ({ client, settings }) => {
    const ledger = new JobLedger(client.serviceClock, settings.forgetAfterMs);
    return [{ path: '/jobs', read: ({ records, note }) => ledger.absorb(records, note) }];
  },
};

/** Counts each job once, when it has finished, even if some lists were missed; none that finished before the start. */
export class JobLedger {
  readonly #finished = new Tally(jobsFinished);
  readonly #clock: CountingClock;
  readonly #forgetAfterMs: number;
  readonly #start: CountingStart;
  /** `at`: when the job was last listed, in monotonic milliseconds. */
  readonly #listed = new Map<string, { readonly at: number; readonly isOver: boolean }>();
  #hasListed = false;

  constructor(clock: CountingClock, forgetAfterMs: number) {
    this.#clock = clock;
    this.#forgetAfterMs = forgetAfterMs;
    this.#start = new CountingStart(clock);
  }

  async absorb(jobs: AsyncIterable<Fields> | Iterable<Fields>, note: NoteDrop): Promise<Sample[]> {
    const list = new Tally(jobsListed);
    const unacknowledged = new Tally(jobsUnacknowledged);
    const unfinished: Fields[] = [];
    const now = this.#clock.monotonic();
    for await (const job of jobs) {
      const { resource, action } = job;
      const [id, state] = [text(job.id), wordOf(job.state)];
      if (id === '') {
        note('record', 'id');
        continue;
      }
      // A state without jobs of this kind is a counted zero.
      for (const word of STATES) list.add({ resource, action, state: word }, 0);
      for (const word of OVER) this.#finished.add({ resource, action, state: word }, 0);
      list.add(job);
      const isOpen = job.user_acknowledged_at === null || job.user_acknowledged_at === undefined;
      unacknowledged.add(job, state === 'failed' && isOpen ? 1 : 0);
      if (state === 'in_progress') unfinished.push(job);
      const isOver = OVER.some((word) => word === state);
      const known = this.#listed.get(id);
      if (isOver && (known === undefined ? this.#isRecent(job) : !known.isOver)) this.#finished.add(job);
      if (known !== undefined || this.#listed.size < MOST_REMEMBERED) {
        this.#listed.set(id, { at: now, isOver: isOver || known?.isOver === true });
      }
    }
    this.#hasListed = true;
    for (const [id, { at }] of this.#listed) if (now - at > this.#forgetAfterMs) this.#listed.delete(id);
    return [
      ...list.samples(),
      ...this.#finished.samples(),
      ...unacknowledged.samples(),
      ...[...RESOURCES, OTHER].flatMap((resource) => {
        const open = unfinished.filter((job) => resourceOf(job) === resource);
        return extremeSample(oldestUnfinishedJob, 'least', open, { resource }, note);
      }),
    ];
  }

  #isRecent(job: Fields): boolean {
    const at = dateSeconds(job.last_updated_at) ?? dateSeconds(job.created_at);
    return this.#hasListed && (at === undefined || this.#start.includes(at));
  }
}

function resourceOf({ resource }: Fields): string {
  return RESOURCES.find((known) => known === wordOf(resource)) ?? OTHER;
}

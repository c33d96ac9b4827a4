import { type Fields, OTHER } from '../../../metrics/family.ts';
import { Tally } from '../../../metrics/label-counter.ts';
import { type NoteDrop, type Sample, text, wordOf } from '../../../metrics/samples.ts';
import { accountTasks, type CollectorRow } from '../collector-row.ts';
import { extremeSample } from '../extremes.ts';
import { listed } from '../records.ts';
import { jobsFinished, jobsListed, jobsUnacknowledged, jobTables, oldestUnfinishedJob } from './jobs-tables.ts';

/** The words of a job's state (upstream-api.md 5.8). */
const STATES = ['in_progress', 'completed', 'failed'] as const;

/** Those in which a job is over; of a word that is not documented nobody knows. */
const OVER: readonly string[] = ['completed', 'failed'];

const RESOURCES = ['edge', 'volume', 'cloud_credential'] as const;

const KIND = [{ name: 'resource', known: RESOURCES }, { name: 'action' }] as const;

/** Jobs that are remembered as having ended at most; the portal lists them without pages, so all of them come each time. */
const MOST_REMEMBERED = 100_000;

/** What the portal is at work on, for whom, and what became of it. */
export const jobs: CollectorRow = {
  name: 'jobs',
  intervalMs: 300_000,
  tables: jobTables,
  cost: { account: 1, perAppliance: 0, perVolume: 0 },
  size: { account: 33 },
  create: (parts, intervalMs) => {
    const ledger = new JobLedger();
    return accountTasks(parts, intervalMs, [
      { operation: 'jobs', path: '/jobs', read: (body, note) => ledger.absorb(body, note) },
    ]);
  },
};

/** Counts each job once when it has ended; what had ended before the first answer is history and is not counted. */
export class JobLedger {
  readonly #finished = new Tally([...KIND, { name: 'state', known: OVER }]);
  /** The ids that had ended by the last answer; one that has left the list does not come back. */
  #ended: ReadonlySet<string> | undefined;

  /** Folds an answer of `GET /jobs` in and gives what there is to say about it. */
  *absorb(body: unknown, note: NoteDrop): Generator<void, Sample[]> {
    const list = new Tally([...KIND, { name: 'state', known: STATES }]);
    const unacknowledged = new Tally(KIND);
    const unfinished = new Map<string, Fields[]>();
    const ended = new Set<string>();
    for (const job of listed(body, 'GET /jobs', note)) {
      const id = text(job.id);
      const [resource, action, state] = [wordOf(job.resource), wordOf(job.action), wordOf(job.state)];
      if (id === '') {
        note('record', 'id');
        continue;
      }
      // A state that no job of this kind is in is a zero that was counted.
      for (const word of STATES) list.add([resource, action, word], 0);
      for (const word of OVER) this.#finished.add([resource, action, word], 0);
      list.add([resource, action, state]);
      const isOpen = job.user_acknowledged_at === null || job.user_acknowledged_at === undefined;
      unacknowledged.add([resource, action], state === 'failed' && isOpen ? 1 : 0);
      if (state === 'in_progress') openOf(unfinished, resource).push(job);
      else if (OVER.includes(state) && ended.size < MOST_REMEMBERED) {
        ended.add(id);
        if (this.#ended !== undefined && !this.#ended.has(id)) this.#finished.add([resource, action, state]);
      }
      yield;
    }
    this.#ended = ended;
    return [
      ...list.samples(jobsListed.name),
      ...this.#finished.samples(jobsFinished.name),
      ...unacknowledged.samples(jobsUnacknowledged.name),
      ...[...unfinished].flatMap(([resource, open]) => oldestOf(resource, open, note)),
    ];
  }
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

import { type Family, type JsonObject, OTHER } from '../../../metrics/family.ts';
import { boundedId } from '../../../metrics/label-value.ts';
import { LabelledCounter } from '../../../metrics/labelled-counter.ts';
import { enumLabelValue, labelValue, type ReportDrop, type Sample } from '../../../metrics/samples.ts';
import { date, parseDateSeconds, recordOne } from '../../../metrics/units.ts';
import { type CountingClock, CountingStart } from '../../../runtime/counting-start.ts';
import type { CollectorDefinition } from '../collector-definition.ts';
import { extremeSample } from '../extreme-sample.ts';

const STATES = ['in_progress', 'completed', 'failed'] as const;

/** The states of a finished job. An undocumented state does not count as finished. */
const FINISHED = ['completed', 'failed'] as const;

const RESOURCES = ['edge', 'volume', 'cloud_credential'] as const;

const KIND_LABELS = {
  resource: { field: 'resource', documentedValues: RESOURCES },
  action: { field: 'action' },
} as const;

const jobsListed = {
  name: 'filer_jobs',
  help: 'Jobs in the list of the portal, by resource, action and state.',
  from: recordOne,
  fields: { id: {} },
  enumLabels: { ...KIND_LABELS, state: { field: 'state', documentedValues: STATES } },
} as const satisfies Family;

const jobsFinished = {
  name: 'filer_jobs_finished_total',
  help: 'Jobs finished since the exporter started, by resource, action and state.',
  type: 'counter',
  from: recordOne,
  fields: { id: {} },
  enumLabels: { ...KIND_LABELS, state: { field: 'state', documentedValues: FINISHED } },
} as const satisfies Family;

const jobsUnacknowledged = {
  name: 'filer_jobs_failed_unacknowledged',
  help: 'Failed jobs without an acknowledgement, by resource and action.',
  from: recordOne,
  fields: { user_acknowledged_at: {} },
  enumLabels: KIND_LABELS,
} as const satisfies Family;

const oldestUnfinishedJob = {
  name: 'filer_job_oldest_unfinished_timestamp_seconds',
  help: 'Creation time of the oldest unfinished job, by resource; missing if every job is finished.',
  from: date,
  fields: { created_at: {} },
  enumLabels: { resource: KIND_LABELS.resource },
} as const satisfies Family;

/** The most jobs that are remembered. The portal lists jobs without pages, so each response contains all of them. */
const MAX_REMEMBERED = 100_000;

export const jobs: CollectorDefinition = {
  name: 'jobs',
  intervalMs: 300_000,
  tables: [
    {
      source: 'GET /jobs',
      commonLabels: [],
      families: [jobsListed, jobsFinished, jobsUnacknowledged, oldestUnfinishedJob],
    },
  ],
  reads: [
    {
      path: '/jobs',
      create({ client, options }) {
        const ledger = new JobLedger(client.serviceClock, options.forgetAfterMs);
        return { read: ({ records, reportDrop }) => ledger.add(records, reportDrop) };
      },
    },
  ],
};

/** Counts each job once after it has finished, even if some polls failed. Jobs that finished before the start are not counted. */
export class JobLedger {
  readonly #finished = new LabelledCounter(jobsFinished);
  readonly #clock: CountingClock;
  readonly #forgetAfterMs: number;
  readonly #start: CountingStart;
  /** `at`: when the job was last listed, in monotonic milliseconds. */
  readonly #listed = new Map<string, { readonly at: number; readonly isFinished: boolean }>();
  #hasListed = false;

  constructor(clock: CountingClock, forgetAfterMs: number) {
    this.#clock = clock;
    this.#forgetAfterMs = forgetAfterMs;
    this.#start = new CountingStart(clock);
  }

  async add(jobs: AsyncIterable<JsonObject> | Iterable<JsonObject>, reportDrop: ReportDrop): Promise<Sample[]> {
    const list = new LabelledCounter(jobsListed);
    const unacknowledged = new LabelledCounter(jobsUnacknowledged);
    const unfinished: JsonObject[] = [];
    const now = this.#clock.monotonic();
    for await (const job of jobs) {
      const { resource, action } = job;
      const [id, state] = [boundedId(labelValue(job.id)), enumLabelValue(job.state)];
      if (id === '') {
        reportDrop('record', 'id');
        continue;
      }
      // Each state gets a series, so that a state without jobs is 0 instead of missing.
      for (const word of STATES) list.add({ resource, action, state: word }, 0);
      for (const word of FINISHED) this.#finished.add({ resource, action, state: word }, 0);
      list.add(job);
      const isOpen = job.user_acknowledged_at === null || job.user_acknowledged_at === undefined;
      unacknowledged.add(job, state === 'failed' && isOpen ? 1 : 0);
      if (state === 'in_progress') unfinished.push(job);
      const isFinished = FINISHED.some((word) => word === state);
      const before = this.#listed.get(id);
      if (isFinished && before === undefined && this.#hasListed && !this.#isRecent(job))
        reportDrop('late', 'last_updated_at');
      else if (isFinished && (before === undefined ? this.#hasListed : !before.isFinished)) this.#finished.add(job);
      if (before !== undefined || this.#listed.size < MAX_REMEMBERED) {
        this.#listed.set(id, { at: now, isFinished: isFinished || before?.isFinished === true });
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
        return extremeSample(oldestUnfinishedJob, 'least', open, { resource }, reportDrop);
      }),
    ];
  }

  #isRecent(job: JsonObject): boolean {
    const at = parseDateSeconds(job.last_updated_at) ?? parseDateSeconds(job.created_at);
    return at === undefined || this.#start.includes(at);
  }
}

function resourceOf({ resource }: JsonObject): string {
  return RESOURCES.find((known) => known === enumLabelValue(resource)) ?? OTHER;
}

import type { Fields, Table } from '../../metrics/family.ts';
import type { NoteDrop, Sample } from '../../metrics/samples.ts';
import { DropCount, type Reading } from '../../metrics/snapshot.ts';
import type { Task } from '../../metrics/task.ts';
import type { SampleShare } from '../../planning/plan.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Persisted } from '../../runtime/persisted.ts';
import { inTurns } from '../../runtime/slices.ts';
import type { AnswerSize } from '../../transport/answer-limits.ts';
import type { ApplianceIndex } from './appliances/appliance-index.ts';
import type { Appliance } from './appliances/inventory.ts';
import type { UnitWatch } from './appliances/unit-watch.ts';
import type { PortalClient } from './client.ts';
import { pagesOf } from './paging.ts';
import { listed, objectOf } from './records.ts';
import type { PortalSettings } from './settings.ts';

export interface PortalParts {
  readonly client: PortalClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: PortalSettings;
  readonly appliances: ApplianceIndex;
  /** Without `ops_iq_premium` the portal answers every telemetry series with 403, as without the right. */
  readonly licence: { hasTelemetry: boolean | undefined };
  readonly unitWatch: UnitWatch;
  /** What collectors save over restarts, by name. */
  readonly persisted: Map<string, Persisted>;
}

export interface CollectorRow {
  readonly name: string;
  readonly intervalMs: number;
  readonly tables: readonly Table[];
  /** The requests of one round; default one. */
  readonly cost?: { readonly account?: number; readonly perAppliance?: number; readonly perVolume?: number };
  readonly size: SampleShare;
  /** Samples of an appliance from the records of an inventory round, without requests of its own. */
  readonly readout?: (appliance: Appliance, note: NoteDrop) => Sample[];
  /** A task for each of these, on shard 0 only. */
  readonly reads?: (parts: PortalParts) => readonly AccountRead[];
  readonly create?: (parts: PortalParts, intervalMs: number) => () => readonly Task[];
  /** There are no tasks before the inventory was read: the first samples after a start would have other labels. */
  readonly namesAppliances?: true;
}

export interface AccountRead {
  /** The label `operation` and the task's id are made of it: `/account/license` is `account_license`. */
  readonly path: string;
  readonly query?: () => Readonly<Record<string, string>>;
  /** Default `list`. */
  readonly size?: AnswerSize;
  /** Its list comes in pages. As there can be many, they do not go before other requests. */
  readonly paged?: true;
  readonly read: (answer: AccountAnswer) => Sample[] | Promise<Sample[]>;
}

export interface AccountAnswer {
  /** The answer itself; empty if it is a list in pages. */
  readonly body: Fields;
  /** The objects of its list, of all pages; reading them gives the event loop its turns. */
  readonly records: AsyncIterable<Fields>;
  readonly note: NoteDrop;
}

/** Returns the tasks of a row, which may change with the appliances. */
export function tasksOf(row: CollectorRow, parts: PortalParts, intervalMs: number): () => readonly Task[] {
  const { reads, create, namesAppliances } = row;
  const { appliances, settings } = parts;
  const read = settings.shard.index === 0 ? (reads?.(parts) ?? []) : [];
  const fixed = read.map((one) => readTask(parts, intervalMs, one));
  const others = create?.(parts, intervalMs);
  return () => (namesAppliances && !appliances.hasBeenAsked ? [] : [...fixed, ...(others?.() ?? [])]);
}

function readTask(parts: PortalParts, intervalMs: number, account: AccountRead): Task {
  const { client, clock } = parts;
  const { path, query, size = 'list', paged, read } = account;
  const operation = path.slice(1).replaceAll(/[/-]/g, '_');
  const what = `GET ${path}`;
  const check = (answer: unknown) => objectOf(answer, what);
  const task = accountTask(parts, intervalMs, operation, async (note, signal) => {
    const request = { method: 'GET', path, operation, size, check, ...(query && { query: query() }) } as const;
    const body = paged ? {} : objectOf(await client.send({ ...request, ahead: true }, signal), what);
    const pages = paged ? pagesOf(client, request, signal) : [body];
    let answeredAt: number | undefined;
    const records = async function* () {
      for await (const page of pages) {
        answeredAt ??= clock.monotonic();
        yield* inTurns(listed(page, what, note), clock);
      }
    };
    return { samples: await read({ body, records: records(), note }), answeredAt };
  });
  return paged ? task : { ...task, first: true };
}

/** Backed off without the right or the licence for it. */
export function accountTask(
  { settings }: PortalParts,
  intervalMs: number,
  operation: string,
  poll: (note: NoteDrop, signal: AbortSignal) => Promise<Pick<Reading, 'samples' | 'answeredAt'>>,
): Task {
  return {
    id: `portal/${operation}`,
    api: 'portal',
    operation,
    intervalMs,
    backOffMs: Math.max(intervalMs, settings.discoveryIntervalMs),
    retriesSoon: true,
    async poll(signal) {
      const drops = new DropCount();
      return { ...(await poll(drops.note, signal)), drops: drops.counts, empty: false };
    },
  };
}

import type { Kept } from '../../contract/kept.ts';
import { DropCounter, type PollResult } from '../../contract/poll-result.ts';
import type { Task } from '../../contract/task.ts';
import type { JsonObject, Table } from '../../metrics/family.ts';
import type { ReportDrop, Sample } from '../../metrics/samples.ts';
import type { SampleCounts } from '../../planning/plan.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { iterateInSlices } from '../../runtime/slices.ts';
import type { AnswerSize } from '../../transport/response-limits.ts';
import type { ApplianceIndex } from './appliances/appliance-index.ts';
import type { Appliance } from './appliances/inventory.ts';
import type { UnitDetector } from './appliances/unit-detector.ts';
import type { PortalClient } from './client.ts';
import { fetchPages, type PagedList } from './paging.ts';
import { iterateRecords, requireObject } from './records.ts';
import type { PortalOptions } from './settings.ts';

export interface PortalContext {
  readonly client: PortalClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: PortalOptions;
  readonly appliances: ApplianceIndex;
  /** Without `ops_iq_premium` the portal answers every telemetry series with 403, as without the right. */
  readonly licence: { hasTelemetry: boolean | undefined };
  readonly unitWatch: UnitDetector;
  /** What collectors keep over restarts. */
  readonly kept: Kept[];
}

export interface CollectorDefinition {
  readonly name: string;
  readonly intervalMs: number;
  readonly tables: readonly Table[];
  /** The requests of one round; default one. */
  readonly requestsPerCycle?: {
    readonly account?: number;
    readonly perAppliance?: number;
    readonly perVolume?: number;
  };
  readonly sampleCounts: SampleCounts;
  /** Samples of an appliance from the records of an inventory round, without requests of its own. */
  readonly inventorySamples?: (appliance: Appliance, note: ReportDrop) => Sample[];
  /** A task for each of these, on shard 0 only. */
  readonly reads?: (parts: PortalContext) => readonly AccountRead[];
  readonly create?: (parts: PortalContext, intervalMs: number) => () => Iterable<Task>;
  /** There are no tasks before the inventory was read: the first samples after a start would have other labels. */
  readonly waitsForInventory?: true;
}

export interface AccountRead {
  /** The label `operation` and the task's id are made of it: `/account/license` is `account_license`. */
  readonly path: string;
  readonly query?: () => Readonly<Record<string, string>>;
  /** Default `list`. */
  readonly size?: AnswerSize;
  /** Its list comes in pages. As there can be many, they do not go before other requests. */
  readonly paged?: PagedList;
  readonly read: (answer: AccountResponse) => Sample[] | Promise<Sample[]>;
}

export interface AccountResponse {
  /** The answer itself; empty if it is a list in pages. */
  readonly body: JsonObject;
  /** The objects of its list, of all pages; reading them gives the event loop its turns. */
  readonly records: AsyncIterable<JsonObject>;
  readonly reportDrop: ReportDrop;
}

/** Returns the tasks of a row, which may change with the appliances. */
export function createTasks(row: CollectorDefinition, parts: PortalContext, intervalMs: number): () => Iterable<Task> {
  const { reads, create, waitsForInventory } = row;
  const { appliances, settings } = parts;
  const read = settings.shard.index === 0 ? (reads?.(parts) ?? []) : [];
  const fixed = read.map((one) => readTask(parts, intervalMs, one));
  const others = create?.(parts, intervalMs);
  return function* () {
    if (waitsForInventory && !appliances.isInventoryRead) return;
    yield* fixed;
    if (others !== undefined) yield* others();
  };
}

function readTask(parts: PortalContext, intervalMs: number, account: AccountRead): Task {
  const { client, clock } = parts;
  const { path, query, size = 'list', paged, read } = account;
  const operation = path.slice(1).replaceAll(/[/-]/g, '_');
  const what = `GET ${path}`;
  const validate = (response: unknown) => requireObject(response, what);
  const task = accountTask(parts, intervalMs, operation, async (note, signal) => {
    const request = { method: 'GET', path, operation, size, validate, ...(query && { query: query() }) } as const;
    const body = paged ? {} : requireObject(await client.send({ ...request, priority: true }, signal), what);
    const pages = paged ? fetchPages(client, request, signal, paged) : [body];
    let answeredAt: number | undefined;
    const records = async function* () {
      for await (const page of pages) {
        answeredAt ??= clock.monotonic();
        yield* iterateInSlices(iterateRecords(page, what, note), clock);
      }
    };
    return { samples: await read({ body, records: records(), reportDrop: note }), respondedAt: answeredAt };
  });
  return paged ? task : { ...task, priority: true };
}

/** Suspended without the right or the licence for it. */
export function accountTask(
  { settings }: PortalContext,
  intervalMs: number,
  operation: string,
  poll: (note: ReportDrop, signal: AbortSignal) => Promise<Pick<PollResult, 'samples' | 'respondedAt'>>,
): Task {
  return {
    id: `portal/${operation}`,
    api: 'portal',
    operation,
    intervalMs,
    suspendedIntervalMs: Math.max(intervalMs, settings.discoveryIntervalMs),
    retriesBeforeSlot: true,
    async poll(signal) {
      const drops = new DropCounter();
      return { ...(await poll(drops.reportDrop, signal)), drops: drops.counts, empty: false };
    },
  };
}

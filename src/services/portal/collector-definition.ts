import type { Kept } from '../../contract/kept.ts';
import { DropCounter, type PollResult } from '../../contract/poll-result.ts';
import type { Task } from '../../contract/task.ts';
import type { JsonObject, Table } from '../../metrics/family.ts';
import type { ReportDrop, Sample } from '../../metrics/samples.ts';
import type { SampleCounts } from '../../planning/plan.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { iterateInSlices } from '../../runtime/slices.ts';
import type { ResponseSize } from '../../transport/response-limits.ts';
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
  readonly options: PortalOptions;
  readonly appliances: ApplianceIndex;
  /** Without the licence `ops_iq_premium` the portal returns 403 for every telemetry series, as it does without the right. */
  readonly licence: { hasTelemetry: boolean | undefined };
  readonly unitDetector: UnitDetector;
  /** The collectors add their state that is kept over restarts. */
  readonly kept: Kept[];
}

export interface CollectorDefinition {
  readonly name: string;
  readonly intervalMs: number;
  readonly tables: readonly Table[];
  /** How many requests one cycle takes; default one for the account. */
  readonly requestsPerCycle?: {
    readonly account?: number;
    readonly perAppliance?: number;
    readonly perVolume?: number;
  };
  readonly sampleCounts: SampleCounts;
  /** The samples that the collector makes of an appliance's inventory records, for which it sends no request. */
  readonly inventorySamples?: (appliance: Appliance, reportDrop: ReportDrop) => Sample[];
  /** Operations of the account. Each becomes a task of shard 0. */
  readonly reads?: (context: PortalContext) => readonly AccountRead[];
  readonly create?: (context: PortalContext, intervalMs: number) => () => Iterable<Task>;
  /** The tasks exist only after the inventory has been read: before that, samples would have other labels. */
  readonly waitsForInventory?: true;
}

export interface AccountRead {
  /** It determines the label `operation` and the task's id: `/account/license` becomes `account_license`. */
  readonly path: string;
  readonly query?: () => Readonly<Record<string, string>>;
  /** Default `list`. */
  readonly size?: ResponseSize;
  /** The list comes in pages. Because there can be many, the task has no priority. */
  readonly paged?: PagedList;
  readonly read: (response: AccountResponse) => Sample[] | Promise<Sample[]>;
}

export interface AccountResponse {
  /** The response; an empty object if the list comes in pages. */
  readonly body: JsonObject;
  /** The objects of the list, of all pages. Iterating over them yields to the event loop from time to time. */
  readonly records: AsyncIterable<JsonObject>;
  readonly reportDrop: ReportDrop;
}

/** Returns a function that lists the collector's present tasks, which change with the appliances. */
export function createTasks(
  definition: CollectorDefinition,
  context: PortalContext,
  intervalMs: number,
): () => Iterable<Task> {
  const { reads, create, waitsForInventory } = definition;
  const { appliances, options } = context;
  const read = options.shard.index === 0 ? (reads?.(context) ?? []) : [];
  const accountTasks = read.map((read) => createAccountTask(context, intervalMs, read));
  const createOtherTasks = create?.(context, intervalMs);
  return function* () {
    if (waitsForInventory && !appliances.isInventoryRead) return;
    yield* accountTasks;
    if (createOtherTasks !== undefined) yield* createOtherTasks();
  };
}

function createAccountTask(context: PortalContext, intervalMs: number, account: AccountRead): Task {
  const { client, clock } = context;
  const { path, query, size = 'list', paged, read } = account;
  const operation = path.slice(1).replaceAll(/[/-]/g, '_');
  const requestName = `GET ${path}`;
  const validate = (response: unknown) => requireObject(response, requestName);
  const task = accountTask(context, intervalMs, operation, async (reportDrop, signal) => {
    const request = { method: 'GET', path, operation, size, validate, ...(query && { query: query() }) } as const;
    const body = paged ? {} : requireObject(await client.send({ ...request, priority: true }, signal), requestName);
    const pages = paged ? fetchPages(client, request, signal, paged) : [body];
    let respondedAt: number | undefined;
    const records = async function* () {
      for await (const page of pages) {
        respondedAt ??= clock.monotonic();
        yield* iterateInSlices(iterateRecords(page, requestName, reportDrop), clock);
      }
    };
    return { samples: await read({ body, records: records(), reportDrop }), respondedAt };
  });
  return paged ? task : { ...task, priority: true };
}

/** A task without an appliance. It is suspended while the role or the licence does not permit the operation. */
export function accountTask(
  { options }: PortalContext,
  intervalMs: number,
  operation: string,
  poll: (reportDrop: ReportDrop, signal: AbortSignal) => Promise<Pick<PollResult, 'samples' | 'respondedAt'>>,
): Task {
  return {
    id: `portal/${operation}`,
    api: 'portal',
    operation,
    intervalMs,
    suspendedIntervalMs: Math.max(intervalMs, options.discoveryIntervalMs),
    retriesBeforeSlot: true,
    async poll(signal) {
      const drops = new DropCounter();
      return { ...(await poll(drops.reportDrop, signal)), drops: drops.counts, empty: false };
    },
  };
}

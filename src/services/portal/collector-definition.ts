import { DropCounter, type PollResult } from '../../contract/poll-result.ts';
import type { Task } from '../../contract/task.ts';
import type { Family, JsonObject, Table } from '../../metrics/family.ts';
import { type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';
import { iterateInSlices } from '../../runtime/slices.ts';
import type { SampleCounts } from '../service.ts';
import { type AccountRows, readRows, tablesOfRows } from './account-rows.ts';
import type { Appliance } from './appliances/inventory.ts';
import type { PortalContext } from './context.ts';
import { fetchPages, type PagedList } from './paging.ts';
import { collectAll, iterateRecords, requireObject } from './records.ts';

export interface CollectorDefinition {
  readonly name: string;
  readonly intervalMs: number;
  /** The families of `create`, in addition to those of the rows of `reads`. */
  readonly tables?: readonly Table[];
  /** How many requests one cycle takes; default one for each of `reads`. */
  readonly requestsPerCycle?: {
    readonly account?: number;
    readonly perAppliance?: number;
    readonly perVolume?: number;
  };
  /** Missing for a collector of the account, whose samples do not grow with the fleet. */
  readonly sampleCounts?: SampleCounts;
  /** The samples that the collector makes of an appliance's inventory records, for which it sends no request. */
  readonly inventorySamples?: (appliance: Appliance, reportDrop: ReportDrop) => Sample[];
  /** Operations of the account. Each becomes a task. */
  readonly reads?: readonly AccountRead[];
  readonly create?: (context: PortalContext, own: OwnFields) => () => Iterable<Task>;
  /** The tasks exist only after the inventory has been read: before that, samples would have other labels. */
  readonly waitsForInventory?: true;
}

/** What all tasks of a collector have in common. */
export type OwnFields = Pick<Task, 'intervalMs' | 'without'>;

/** An operation of the account, and how its response becomes samples: those of `object`, of `rows` and of `create`. */
export interface AccountRead {
  /** It determines the label `operation` and the task's id: `/account/license` becomes `account_license`. */
  readonly path: string;
  /** The families of a response that is one object, or of the object in its field `part`. The response is no list. */
  readonly object?: {
    readonly families: readonly Family[];
    readonly part?: string;
    readonly onResponse?: (response: JsonObject, context: PortalContext) => void;
  };
  /** What becomes of the records of a response that is a list. */
  readonly rows?: AccountRows;
  /** The list comes in pages. Because there can be many, the task has no priority. */
  readonly paged?: PagedList;
  /** Called once for each process; the reader may keep what it has counted. */
  readonly create?: (context: PortalContext) => AccountReader;
}

export interface AccountReader {
  readonly query?: () => Readonly<Record<string, string>>;
  readonly read: (response: AccountResponse) => Sample[] | Promise<Sample[]>;
}

export interface AccountResponse {
  /** The objects of the list, of all pages. */
  readonly records: AsyncIterable<JsonObject> | Iterable<JsonObject>;
  readonly reportDrop: ReportDrop;
}

/** Returns a function that lists the collector's present tasks, which change with the appliances. */
export function createTasks(
  definition: CollectorDefinition,
  context: PortalContext,
  intervalMs: number,
): () => Iterable<Task> {
  const { name, reads = [], create, waitsForInventory } = definition;
  const { appliances } = context;
  const own = { intervalMs, without: `PORTAL_COLLECTORS=-${name}` };
  const accountTasks = reads.map((read) => createAccountTask(context, own, read));
  const otherTasks = create?.(context, own) ?? (() => []);
  return function* () {
    if (waitsForInventory && !appliances.isInventoryRead) return;
    yield* accountTasks;
    yield* otherTasks();
  };
}

/** Every family of a collector, for HELP and the reference. */
export function tablesOf({ tables = [], reads = [] }: CollectorDefinition): readonly Table[] {
  const ofReads = reads.flatMap(({ path, object, rows }) => {
    const source = `GET ${path}`;
    const ofObject = object === undefined ? [] : [{ source, commonLabels: [], families: object.families }];
    return [...ofObject, ...(rows === undefined ? [] : tablesOfRows(source, rows))];
  });
  return [...ofReads, ...tables];
}

function createAccountTask(context: PortalContext, own: OwnFields, account: AccountRead): Task {
  const { client, clock } = context;
  const { path, object, rows, paged, create } = account;
  const reader = create?.(context);
  const operation = path.slice(1).replaceAll(/[/-]/g, '_');
  const requestName = `GET ${path}`;
  const validate = (response: unknown) => requireObject(response, requestName);
  const task = accountTask(context, own, operation, async (reportDrop, signal) => {
    const query = reader?.query?.();
    const request = { method: 'GET', path, operation, validate, ...(query && { query }) } as const;
    const body = paged ? {} : requireObject(await client.send({ ...request, priority: true }, signal), requestName);
    const pages = paged ? fetchPages(client, request, signal, paged) : [body];
    let respondedAt: number | undefined;
    const records = async function* () {
      for await (const page of pages) {
        respondedAt ??= clock.monotonic();
        yield* iterateInSlices(iterateRecords(page, requestName, reportDrop), clock);
      }
    };
    object?.onResponse?.(body, context);
    const ofObject = object === undefined ? [] : readObject(object, body, requestName, reportDrop);
    const list = rows === undefined ? undefined : await collectAll(records());
    const ofRows = rows === undefined || list === undefined ? [] : await readRows(rows, list, context, reportDrop);
    const ofReader = reader === undefined ? [] : await reader.read({ records: list ?? records(), reportDrop });
    // Not `push(...samples)`: V8 allows a call some 125,000 arguments, and a large account has more samples.
    return { samples: [ofObject, ofRows, ofReader].flat(), respondedAt };
  });
  return paged ? task : { ...task, priority: true };
}

function readObject(
  { families, part }: NonNullable<AccountRead['object']>,
  body: JsonObject,
  requestName: string,
  reportDrop: ReportDrop,
): Sample[] {
  const object = part === undefined ? body : requireObject(body[part], `${requestName}: ${part}`);
  return toSamples(families, [object], {}, reportDrop);
}

/** A task without an appliance. It is suspended while the role or the licence does not permit the operation. */
export function accountTask(
  { options, withoutFuture }: PortalContext,
  own: OwnFields,
  operation: string,
  poll: (reportDrop: ReportDrop, signal: AbortSignal) => Promise<Pick<PollResult, 'samples' | 'respondedAt'>>,
): Task {
  return {
    id: `portal/${operation}`,
    api: 'portal',
    operation,
    ...own,
    suspendedIntervalMs: Math.max(own.intervalMs, options.discoveryIntervalMs),
    retriesBeforeSlot: true,
    async poll(signal) {
      const drops = new DropCounter();
      return withoutFuture({ ...(await poll(drops.reportDrop, signal)), drops: drops.counts, empty: false });
    },
  };
}

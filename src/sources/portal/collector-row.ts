import type { Fields, Table } from '../../metrics/family.ts';
import type { NoteDrop, Sample } from '../../metrics/samples.ts';
import { DropCount, type Reading } from '../../metrics/snapshot.ts';
import type { Task } from '../../metrics/task.ts';
import type { SampleShare } from '../../planning/plan.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { inTurns } from '../../runtime/slices.ts';
import type { AnswerSize } from '../../transport/answer-limits.ts';
import type { ApiRequest } from '../../transport/client.ts';
import type { FilerNames } from '../filer-names.ts';
import type { TelemetryLicence } from './account/telemetry-licence.ts';
import type { Dialect } from './appliances/dialect.ts';
import type { ApplianceIndex, InventoryReadout } from './appliances/inventory.ts';
import type { PortalClient } from './client.ts';
import { pagesOf } from './paging.ts';
import { listed, objectOf } from './records.ts';

/** What is polled of the portal, and how often; times in milliseconds. */
export interface PortalSettings {
  /** The series to poll, each with its own interval. */
  readonly series: readonly Interval[];
  /** Whether `current_appliance_performance` replaces two series. */
  readonly mode?: 'full' | 'economy';
  /** The enabled collectors besides the series. */
  readonly collectors: readonly Interval[];
  /** Time between two polls of the inventory, and of a task that is backed off. */
  readonly discoveryIntervalMs: number;
  /** Only these serials, in lower case; undefined for the whole inventory. */
  readonly serials: readonly string[] | undefined;
  /** This instance's part of the fleet; operations of the whole account are polled on shard 0 only. */
  readonly shard: { readonly index: number; readonly total: number };
  readonly lookbackMs: number;
  readonly binSeconds: number;
  /** How many intervals an unconfirmed value is exposed. */
  readonly staleAfter: number;
  /** What is counted stays for so long after the last sign of what it is about. */
  readonly forgetAfterMs: number;
  /** Of the histograms; ascending, empty for sum and count only. */
  readonly bounds: readonly number[];
  /** The most appliances of an inventory, limited by memory; `serials` are always polled. */
  readonly mostAppliances?: number;
  /** The names of filers in both services; without it each appliance has its name in the inventory. */
  readonly names?: FilerNames;
  /**
   * The start of the points that an output needs of a task, in milliseconds since the Unix epoch; undefined if the
   * usual period is enough. One request covers the longer period.
   */
  readonly wantedSince?: (task: string) => number | undefined;
}

/** One series or collector, and the time between two of its polls. */
export interface Interval {
  readonly name: string;
  readonly intervalMs: number;
}

/** What the portal's collectors are built from, and share. */
export interface PortalParts {
  readonly client: PortalClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: PortalSettings;
  /** The appliances in the latest inventory. */
  readonly appliances: ApplianceIndex;
  readonly licence: TelemetryLicence;
  readonly dialect: Dialect;
  /** Registers what a collector saves over restarts, under its name. */
  readonly keeps: (name: string, kept: KeptCounts) => void;
}

/** Counts that can be saved and restored. */
export interface KeptCounts {
  /** A JSON value. */
  state(): unknown;
  /**
   * Reads a state saved `elapsedMs` ago and returns the function that applies it; call it before the first poll. Throws
   * if the state cannot be used, and has changed nothing then.
   */
  restore(saved: unknown, elapsedMs: number): () => void;
}

/** Its current tasks, evaluated at each call. */
type CreateTasks = (parts: PortalParts, intervalMs: number) => () => readonly Task[];

/** One collector of the portal, named in `PORTAL_COLLECTORS`. */
export interface CollectorRow {
  readonly name: string;
  /** Default time between two polls, in milliseconds. */
  readonly intervalMs: number;
  readonly tables: readonly Table[];
  /** The requests of one round, as far as it has any. */
  readonly cost: { readonly account?: number; readonly perAppliance?: number; readonly perVolume?: number };
  readonly size: SampleShare;
  /** Samples from each inventory round, without requests of its own. */
  readonly readout?: InventoryReadout;
  readonly create: CreateTasks;
}

/** One GET about the whole account, and its samples. */
export interface AccountRead {
  /** The label `operation`; the task's id ends in it. */
  readonly operation: string;
  readonly path: string;
  readonly query?: () => Readonly<Record<string, string>>;
  /** Default `list`. */
  readonly size?: AnswerSize;
  /** Its list comes in pages. As there can be many, they do not go before other requests. */
  readonly paged?: true;
  /** Sends the request in another way than with the token. */
  readonly send?: (request: ApiRequest, signal: AbortSignal) => Promise<unknown>;
  /** The samples of an answer. Throws a ShapeError if the body is not such an answer. */
  readonly read: (answer: AccountAnswer) => Sample[] | Promise<Sample[]>;
}

export interface AccountAnswer {
  /** The answer itself; empty if it is a list in pages. */
  readonly body: Fields;
  /** The objects of its list, of all pages; reading them gives the event loop its turns. */
  readonly records: AsyncIterable<Fields>;
  readonly note: NoteDrop;
}

/** The tasks of a collector of the whole account, one for each GET, on shard 0 only. */
export function accountReads(reads: (parts: PortalParts) => readonly AccountRead[]): CreateTasks {
  return (parts, intervalMs) => {
    const tasks = parts.settings.shard.index === 0 ? reads(parts).map((read) => readTask(parts, intervalMs, read)) : [];
    return () => tasks;
  };
}

function readTask(parts: PortalParts, intervalMs: number, account: AccountRead): Task {
  const { client, clock } = parts;
  const { operation, path, query, size = 'list', paged, read } = account;
  const send = account.send ?? client.send.bind(client);
  const what = `GET ${path}`;
  const check = (answer: unknown) => objectOf(answer, what);
  const task = accountTask(parts, intervalMs, operation, async (note, signal) => {
    const request = { method: 'GET', path, operation, size, check, ...(query && { query: query() }) } as const;
    if (!paged) {
      const body = objectOf(await send({ ...request, turn: 'ahead' }, signal), what);
      return read({ body, records: inTurns(listed(body, what, note), clock), note });
    }
    let answeredAt: number | undefined;
    const records = async function* () {
      for await (const page of pagesOf(client, request, signal)) {
        answeredAt ??= clock.monotonic();
        yield* inTurns(listed(page, what, note), clock);
      }
    };
    return { samples: await read({ body: {}, records: records(), note }), answeredAt };
  });
  return paged ? task : { ...task, first: true };
}

/**
 * Tasks that name appliances by the inventory: there are none before it was read, or the first samples after each start
 * would have other labels than all later ones.
 */
export function afterInventory(create: CreateTasks): CreateTasks {
  return (parts, intervalMs) => {
    const tasksOf = create(parts, intervalMs);
    return () => (parts.appliances.hasBeenAsked ? tasksOf() : []);
  };
}

/** One task about the whole account; backed off without the right or the licence for it. */
export function accountTask(
  { settings }: PortalParts,
  intervalMs: number,
  operation: string,
  poll: (
    note: NoteDrop,
    signal: AbortSignal,
  ) => Promise<Sample[] | (Pick<Reading, 'answeredAt'> & { readonly samples: Sample[] })>,
): Task {
  return {
    id: `portal/${operation}`,
    api: 'portal',
    operation,
    intervalMs,
    restMs: Math.max(intervalMs, settings.discoveryIntervalMs),
    retriesSoon: true,
    poll: async (signal): Promise<Reading> => {
      const drops = new DropCount();
      const brought = await poll(drops.note, signal);
      return { ...(Array.isArray(brought) ? { samples: brought } : brought), drops: drops.counts, empty: false };
    },
  };
}

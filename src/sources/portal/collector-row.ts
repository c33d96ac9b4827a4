import type { Table } from '../../metrics/family.ts';
import type { HistogramSettings } from '../../metrics/histogram.ts';
import type { NoteDrop, Sample } from '../../metrics/samples.ts';
import { DropCount, type Reading } from '../../metrics/snapshot.ts';
import type { Task } from '../../metrics/task.ts';
import type { SampleShare } from '../../planning/plan.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { inSlices } from '../../runtime/slices.ts';
import type { AnswerSize } from '../../transport/answer-limits.ts';
import type { Licence } from './account/licence.ts';
import type { AccountDialect } from './appliances/account-dialect.ts';
import type { ApplianceIndex } from './appliances/inventory.ts';
import type { InventoryReadout } from './appliances/inventory-collector.ts';
import type { PortalClient } from './client.ts';
import { objectOf } from './records.ts';

/** What the portal's collectors are built from, and share. */
export interface PortalParts {
  readonly client: PortalClient;
  readonly clock: Clock;
  readonly log: Log;
  /** The appliances as the inventory last said. */
  readonly appliances: ApplianceIndex;
  readonly licence: Licence;
  readonly dialect: AccountDialect;
  /** This instance's part of the fleet; what is about the whole account is polled on shard 0 alone. */
  readonly shard: { readonly index: number; readonly total: number };
  /** Time between two polls of what there is nothing to be had of, in milliseconds. */
  readonly discoveryIntervalMs: number;
  /** What is counted stays for so long after the last sign of what it is about, in milliseconds. */
  readonly forgetAfterMs: number;
  /** How what happens once becomes histograms. */
  readonly histograms: HistogramSettings;
  /** Takes note of what a collector keeps over restarts, under its name. */
  readonly keeps: (name: string, kept: KeptCounts) => void;
}

/** What is counted and can be carried over a restart. */
export interface KeptCounts {
  /** As a JSON value. */
  state(): unknown;
  /**
   * Reads what the process before this one gave, `elapsedMs` ago, and returns what takes it over; before the first poll.
   * Throws where it cannot be used, and has taken nothing then.
   */
  restore(saved: unknown, elapsedMs: number): () => void;
}

/** What one round of a collector takes in requests: for the whole account, each appliance and each volume. */
export interface RoundCost {
  readonly account: number;
  readonly perAppliance: number;
  readonly perVolume: number;
}

/** One collector of the portal: what `PORTAL_COLLECTORS` switches on by this name. */
export interface CollectorRow {
  readonly name: string;
  /** Time between two polls unless the operator says otherwise, in milliseconds. */
  readonly intervalMs: number;
  readonly tables: readonly Table[];
  readonly cost: RoundCost;
  /** For the estimate of `--plan`. */
  readonly size: SampleShare;
  /** What it makes of each inventory round, which takes no request of its own. */
  readonly readout?: InventoryReadout;
  /** Its tasks as they are now, each time it is called. */
  readonly create: (parts: PortalParts, intervalMs: number) => () => readonly Task[];
}

/** One GET about the whole account, and what its answer yields. */
export interface AccountRead {
  /** The label `operation`; the task's id ends in it. */
  readonly operation: string;
  readonly path: string;
  /** `list` when it is left out: what an account has of something. */
  readonly size?: AnswerSize;
  /**
   * The answer as samples; where it is a list of any length, as a generator that yields where it may be interrupted.
   * Throws a ShapeError when it is no answer at all.
   */
  readonly read: (body: unknown, note: NoteDrop) => Sample[] | Generator<void, Sample[]>;
}

/** The tasks of a collector that asks about the whole account, one for each GET, on shard 0 alone. */
export function accountTasks(
  parts: PortalParts,
  intervalMs: number,
  reads: readonly AccountRead[],
): () => readonly Task[] {
  if (parts.shard.index !== 0) return () => [];
  const tasks = reads.map(({ operation, path, size = 'list', read }) =>
    accountTask(parts, intervalMs, operation, async (note, signal) => {
      const check = (answer: unknown) => objectOf(answer, `GET ${path}`);
      const body = await parts.client.send({ method: 'GET', path, operation, size, check, decides: true }, signal);
      const work = read(body, note);
      return Array.isArray(work) ? work : inSlices(work, parts.clock);
    }),
  );
  const first = tasks.map((task): Task => ({ ...task, first: true }));
  return () => first;
}

/**
 * Tasks that name appliances by the inventory: there are none before it was asked for, or the first answers after each
 * start would be under other labels than all later ones.
 */
export function afterInventory({ appliances }: PortalParts, tasksOf: () => readonly Task[]): () => readonly Task[] {
  return () => (appliances.hasBeenAsked ? tasksOf() : []);
}

/** What a poll about the account brings: samples alone where they are of one answer. */
export type AccountSamples = Sample[] | (Pick<Reading, 'answeredAt'> & { readonly samples: Sample[] });

/** One task about the whole account; without the right or the licence for it, it rests. */
export function accountTask(
  { discoveryIntervalMs }: Pick<PortalParts, 'discoveryIntervalMs'>,
  intervalMs: number,
  operation: string,
  poll: (note: NoteDrop, signal: AbortSignal) => Promise<AccountSamples>,
): Task {
  return {
    id: `portal/${operation}`,
    api: 'portal',
    operation,
    intervalMs,
    restMs: Math.max(intervalMs, discoveryIntervalMs),
    retriesSoon: true,
    poll: async (signal): Promise<Reading> => {
      const drops = new DropCount();
      const brought = await poll(drops.note, signal);
      return { ...(Array.isArray(brought) ? { samples: brought } : brought), drops: drops.counts, empty: false };
    },
  };
}

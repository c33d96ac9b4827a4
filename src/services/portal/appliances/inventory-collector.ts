import { explainFor, explainTask } from '../../../contract/causes.ts';
import { DropCounter, type PollResult } from '../../../contract/poll-result.ts';
import type { InventoryGap } from '../../../contract/service-details.ts';
import type { Task } from '../../../contract/task.ts';
import { type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { nextTurn } from '../../../runtime/clock.ts';
import { asError, CredentialError, RequestError } from '../../../runtime/errors.ts';
import { failureReason, isForbidden } from '../../../runtime/failures.ts';
import { portalCauses } from '../causes.ts';
import type { PortalContext } from '../context.ts';
import { edgeSamples, serialSamples } from './edges.ts';
import { INVENTORY_LISTS, type InventoryList, type ListName, readInventory, readList } from './inventory.ts';
import { inventoryTable } from './series-families.ts';

interface ReadList extends InventoryList {
  /** Monotonic milliseconds. */
  readonly respondedAt: number;
}

/** What to set instead of reading the lists of serials. */
const WITHOUT_LISTS = 'set PORTAL_SERIALS to the serials of the appliances';

/** The samples of so many appliances are made between two pauses. */
const APPLIANCES_PER_TURN = 500;

/** Reads the appliances of the account into the index. If one list fails, the others are still read. */
export class InventoryCollector {
  readonly task: Task;
  readonly #context: PortalContext;
  /** The last response of each list; a list that is forbidden (403) has no entry. */
  readonly #lists = new Map<ListName, ReadList>();
  #sharesIds = false;
  #gaps: readonly InventoryGap[] = [];
  #logged: readonly InventoryGap[] = [];

  constructor(context: PortalContext) {
    const { appliances, options } = context;
    this.#context = context;
    this.task = {
      id: 'portal/inventory',
      api: 'portal',
      operation: 'serials',
      without: WITHOUT_LISTS,
      intervalMs: options.discoveryIntervalMs,
      discoversTasks: true,
      retriesBeforeSlot: true,
      priority: true,
      requests: INVENTORY_LISTS.length,
      poll: (signal) => this.#discover(signal).finally(() => appliances.markInventoryRead()),
    };
  }

  get gaps(): readonly InventoryGap[] {
    return this.#gaps;
  }

  async #discover(signal: AbortSignal): Promise<PollResult> {
    const { appliances, clock, options } = this.#context;
    const drops = new DropCounter();
    const startedAt = clock.monotonic();
    const errors = await this.#requestLists(drops.reportDrop, signal);
    // An older list is exposed if it will still be fresh at the next poll, which follows within one and a half intervals.
    const freshMs = (options.staleAfter - 1.5) * options.discoveryIntervalMs;
    const freshAt = Math.min(startedAt, clock.monotonic() - freshMs);
    const fresh = new Map([...this.#lists].filter(([, { respondedAt }]) => respondedAt >= freshAt));
    const inventory = readInventory(this.#lists, this.#sharesIds);
    this.#sharesIds = inventory.sharesIds;
    this.#gaps = [...[...errors].map(gapOf), ...inventory.gaps].filter((gap) => this.#matters(gap));
    // Only the lists of serials show that there are no more appliances; the list of edges only adds details.
    const isKnown = !errors.has('edge_serials') && !errors.has('file_iq_serials');
    if (!isKnown && (errors.size === INVENTORY_LISTS.length || inventory.appliances.size === 0)) {
      const mayBeMissing = options.serials !== undefined && [...errors.values()].every(isForbidden);
      if (!mayBeMissing) throw [...errors.values()].find((error) => !isForbidden(error)) ?? [...errors.values()][0];
    }
    const hasFailed = this.#logGaps();
    appliances.replace(inventory.appliances, drops.reportDrop);
    const samples = await this.#samples(fresh, drops.reportDrop);
    const times = Array.from(fresh.values(), ({ respondedAt }) => respondedAt);
    return {
      samples,
      respondedAt: times.length === 0 ? undefined : Math.min(...times),
      drops: drops.counts,
      empty: false,
      needsConfirmation: appliances.needsConfirmation || hasFailed,
    };
  }

  /** Requests each list, and returns the errors of those that failed. A list that is forbidden loses its earlier records. */
  async #requestLists(reportDrop: ReportDrop, signal: AbortSignal): Promise<ReadonlyMap<ListName, Error>> {
    const { client, clock } = this.#context;
    const errors = new Map<ListName, Error>();
    for (const { name, path, query } of INVENTORY_LISTS) {
      const read = (body: unknown) => readList(body, path, reportDrop);
      const request = { method: 'GET', path, operation: path.slice(1), query, read, priority: true } as const;
      try {
        const records = await client.send(request, signal);
        this.#lists.set(name, { records, isCurrent: true, respondedAt: clock.monotonic() });
      } catch (thrown) {
        const error = asError(thrown);
        if (error instanceof CredentialError || (error instanceof RequestError && error.reason === 'aborted'))
          throw error;
        const earlier = this.#lists.get(name);
        if (isForbidden(error)) this.#lists.delete(name);
        else if (earlier !== undefined) this.#lists.set(name, { ...earlier, isCurrent: false });
        errors.set(name, error);
      }
    }
    return errors;
  }

  /** The samples of the appliances, and with the collector `edges` those of their records in fresh lists. */
  async #samples(fresh: ReadonlyMap<ListName, ReadList>, reportDrop: ReportDrop): Promise<Sample[]> {
    const { appliances, options } = this.#context;
    const hasEdges = options.collectors.some(({ name }) => name === 'edges');
    const samples: Sample[] = [];
    for (const [index, appliance] of appliances.polled.entries()) {
      const { serial, name, type, build, availableBuild } = appliance;
      const record = { id: serial, type, build, available_build: availableBuild };
      samples.push(...toSamples(inventoryTable, [record], { serial, filer: name }));
      const recordIn = (list: ListName) => (hasEdges ? fresh.get(list)?.records.get(serial) : undefined);
      const edge = recordIn('edges');
      if (edge !== undefined) samples.push(...edgeSamples(appliance, edge, reportDrop));
      const listed = recordIn('edge_serials') ?? recordIn('file_iq_serials');
      if (listed !== undefined) samples.push(...serialSamples(appliance, listed, reportDrop));
      if (index % APPLIANCES_PER_TURN === APPLIANCES_PER_TURN - 1) await nextTurn();
    }
    return samples;
  }

  /** A forbidden or empty list does not matter if the configuration does not need it. */
  #matters({ list, reason }: InventoryGap): boolean {
    const { collectors, serials } = this.#context.options;
    if (reason !== 'forbidden' && reason !== 'empty') return true;
    return list === 'edges' ? collectors.some(({ name }) => name === 'edges') : serials === undefined;
  }

  /** Logs the beginning and the end of each gap. Returns whether a list has newly failed. */
  #logGaps(): boolean {
    const { log } = this.#context;
    const isIn = (gaps: readonly InventoryGap[]) => (gap: InventoryGap) =>
      gaps.some(({ list, reason }) => list === gap.list && reason === gap.reason);
    const opened = this.#gaps.filter((gap) => !isIn(this.#logged)(gap));
    const closed = this.#logged.filter((gap) => !isIn(this.#gaps)(gap));
    for (const { list, reason, happened, advice } of opened)
      log.warn({ list, reason, happened, advice }, 'A list of the inventory became incomplete.');
    for (const { list, reason } of closed)
      log.info({ list, reason }, 'The list of the inventory became complete again.');
    this.#logged = this.#gaps;
    return opened.some(({ reason }) => reason !== 'forbidden' && reason !== 'empty' && reason !== 'other_ids');
  }
}

function gapOf([list, error]: readonly [ListName, Error]): InventoryGap {
  const without = list === 'edges' ? 'add -edges to PORTAL_COLLECTORS' : WITHOUT_LISTS;
  return {
    list,
    reason: failureReason(error),
    happened: `the list ${list} of the inventory is missing: ${error.message}`,
    advice: explainTask(explainFor(portalCauses), { without }, error).advice,
  };
}

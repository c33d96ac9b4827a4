import { explainFor, explainTask } from '../../../contract/causes.ts';
import { DropCounter, type PollResult } from '../../../contract/poll-result.ts';
import type { InventoryGap } from '../../../contract/service-details.ts';
import type { Task } from '../../../contract/task.ts';
import { type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { asError, CredentialError, RequestError } from '../../../runtime/errors.ts';
import { failureReason, isForbidden } from '../../../runtime/failures.ts';
import { iterateInSlices } from '../../../runtime/slices.ts';
import { portalCauses, WITHOUT_LISTS } from '../causes.ts';
import { enabledCollectors } from '../collectors.ts';
import type { PortalContext } from '../context.ts';
import { readInventory } from './inventory.ts';
import { checkInventoryList, INVENTORY_LISTS, type ListName } from './inventory-lists.ts';
import { inventoryTable } from './series-families.ts';

interface DatedResponse {
  readonly body: unknown;
  /** Monotonic milliseconds. */
  readonly respondedAt: number;
}

/** Reads the appliances of the account into the index. If one list fails, the others are still read. */
export class InventoryCollector {
  readonly task: Task;
  readonly #context: PortalContext;
  /** The latest response of each list. A forbidden list (403) has none. */
  readonly #responses = new Map<ListName, DatedResponse>();
  #gaps: readonly InventoryGap[] = [];
  #logged: readonly InventoryGap[] = [];

  constructor(context: PortalContext) {
    this.#context = context;
    this.task = this.#createTask();
  }

  #createTask(): Task {
    const { appliances, options, withoutFuture } = this.#context;
    return {
      id: 'portal/inventory',
      api: 'portal',
      operation: 'serials',
      without: WITHOUT_LISTS,
      intervalMs: options.discoveryIntervalMs,
      discoversTasks: true,
      retriesBeforeSlot: true,
      priority: true,
      requests: INVENTORY_LISTS.length,
      poll: async (signal) => {
        try {
          return withoutFuture(await this.discover(signal));
        } finally {
          appliances.markInventoryRead();
        }
      },
    };
  }

  get gaps(): readonly InventoryGap[] {
    return this.#gaps;
  }

  async discover(signal: AbortSignal): Promise<PollResult> {
    const { appliances, clock, options } = this.#context;
    const drops = new DropCounter();
    const startedAt = clock.monotonic();
    const errors = await this.#requestLists(signal);
    // An older response is exposed if it will still be fresh at the next poll, which follows within one and a half intervals.
    const freshMs = (options.staleAfter - 1.5) * options.discoveryIntervalMs;
    const freshAt = Math.min(startedAt, clock.monotonic() - freshMs);
    const responses = new Map(
      [...this.#responses].map(([name, { body, respondedAt }]) => [
        name,
        { body, isCurrent: !errors.has(name), isFresh: respondedAt >= freshAt },
      ]),
    );
    const inventory = readInventory(responses, drops.reportDrop);
    this.#gaps = [...errors]
      .map(gapOf)
      .concat(inventory.gaps)
      .filter((gap) => this.#matters(gap));
    // Only the lists of serials show that there are no more appliances; the list of edges only adds details.
    const isKnown = !errors.has('edge_serials') && !errors.has('file_iq_serials');
    if (!isKnown && (errors.size === INVENTORY_LISTS.length || inventory.appliances.size === 0)) {
      const mayBeMissing = options.serials !== undefined && [...errors.values()].every(isForbidden);
      if (!mayBeMissing) throw failureOf([...errors.values()]);
    }
    const hasFailed = this.#logGaps();
    appliances.replace(inventory.appliances, drops.reportDrop);
    const samples = await this.#samples(drops.reportDrop);
    const times = [...this.#responses.values()]
      .map(({ respondedAt }) => respondedAt)
      .filter((respondedAt) => respondedAt >= freshAt);
    const oldestRespondedAt = times.length === 0 ? undefined : Math.min(...times);
    const needsConfirmation = appliances.needsConfirmation || hasFailed;
    return { samples, respondedAt: oldestRespondedAt, drops: drops.counts, empty: false, needsConfirmation };
  }

  /** Requests each list, and returns the errors of those that failed. A list that is forbidden loses its earlier response. */
  async #requestLists(signal: AbortSignal): Promise<ReadonlyMap<ListName, Error>> {
    const { client, clock } = this.#context;
    const errors = new Map<ListName, Error>();
    for (const { name, path, query } of INVENTORY_LISTS) {
      const check = (response: unknown) => checkInventoryList(response, path);
      const operation = path.slice(1);
      const request = {
        method: 'GET',
        path,
        operation,
        query,
        validate: check,
        priority: true,
      } as const;
      try {
        const body = await client.send(request, signal);
        this.#responses.set(name, { body, respondedAt: clock.monotonic() });
      } catch (thrown) {
        const error = asError(thrown);
        if (error instanceof CredentialError || (error instanceof RequestError && error.reason === 'aborted'))
          throw error;
        if (isForbidden(error)) this.#responses.delete(name);
        errors.set(name, error);
      }
    }
    return errors;
  }

  async #samples(reportDrop: ReportDrop): Promise<Sample[]> {
    const { appliances, clock, options } = this.#context;
    const rows = enabledCollectors(options.collectors);
    const samples: Sample[] = [];
    for await (const appliance of iterateInSlices(appliances.polled, clock)) {
      const { serial, name, type, build, availableBuild } = appliance;
      const record = { id: serial, type, build, available_build: availableBuild };
      samples.push(...toSamples(inventoryTable, [record], { serial, filer: name }));
      for (const { definition } of rows) samples.push(...(definition.inventorySamples?.(appliance, reportDrop) ?? []));
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
      log.warn({ list, reason }, `the inventory is incomplete: ${happened}; ${advice}`);
    for (const { list, reason } of closed) log.info({ list, reason }, 'the inventory is complete again');
    this.#logged = this.#gaps;
    return opened.some(({ reason }) => reason !== 'forbidden' && reason !== 'empty' && reason !== 'other_ids');
  }
}

function gapOf([list, error]: readonly [ListName, Error]): InventoryGap {
  const without = list === 'edges' ? 'PORTAL_COLLECTORS=-edges' : WITHOUT_LISTS;
  return {
    list,
    reason: failureReason(error),
    happened: `the list ${list} of the inventory is missing: ${error.message}`,
    advice: explainTask(explainFor(portalCauses), { without }, error).advice,
  };
}

function failureOf(errors: readonly Error[]): Error {
  const otherError = errors.find((error) => !isForbidden(error));
  if (otherError !== undefined) return otherError;
  return new RequestError('status', 'reading the inventory: GET /serials or GET /edges returned 403', { status: 403 });
}

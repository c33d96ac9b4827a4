import { DropCounter, type PollResult } from '../../../contract/poll-result.ts';
import type { Task } from '../../../contract/task.ts';
import { type ReportDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { failureReason, isForbidden } from '../../../runtime/error-policy.ts';
import { asError, CredentialError, RequestError } from '../../../runtime/errors.ts';
import { iterateInSlices } from '../../../runtime/slices.ts';
import type { InventoryGap } from '../../../status/model.ts';
import type { PortalContext } from '../collector-definition.ts';
import { enabledCollectors } from '../collectors.ts';
import { readInventory } from './inventory.ts';
import { checkInventoryList, INVENTORY_LISTS, type ListName } from './inventory-lists.ts';
import { inventoryTable } from './series-families.ts';

interface Answer {
  readonly body: unknown;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** Reads the appliances of the account into the index. Each list stands for itself: if one fails, the others go on. */
export class InventoryCollector {
  readonly #parts: PortalContext;
  /** The latest answer of each list; none of a list that is forbidden. */
  readonly #answers = new Map<ListName, Answer>();
  #gaps: readonly InventoryGap[] = [];
  #logged: readonly InventoryGap[] = [];

  constructor(parts: PortalContext) {
    this.#parts = parts;
  }

  get task(): Task {
    const { appliances, settings } = this.#parts;
    return {
      id: 'portal/inventory',
      api: 'portal',
      operation: 'serials',
      intervalMs: settings.discoveryIntervalMs,
      discoversTasks: true,
      retriesBeforeSlot: true,
      priority: true,
      requests: INVENTORY_LISTS.length,
      poll: (signal) => this.discover(signal).finally(() => appliances.markInventoryRead()),
    };
  }

  get gaps(): readonly InventoryGap[] {
    return this.#gaps;
  }

  async discover(signal: AbortSignal): Promise<PollResult> {
    const { appliances, clock, settings } = this.#parts;
    const drops = new DropCounter();
    const begunAt = clock.monotonic();
    const errors = await this.#ask(signal);
    // An old answer is exposed if it will still be fresh in the next round, which follows within one and a half intervals.
    const freshMs = (settings.staleAfter - 1.5) * settings.discoveryIntervalMs;
    const freshAt = Math.min(begunAt, clock.monotonic() - freshMs);
    const answers = new Map(
      [...this.#answers].map(([name, { body, at }]) => [
        name,
        { body, isCurrent: !errors.has(name), isFresh: at >= freshAt },
      ]),
    );
    const inventory = readInventory(answers, drops.reportDrop);
    this.#gaps = [...errors]
      .map(gapOf)
      .concat(inventory.gaps)
      .filter((gap) => this.#matters(gap));
    // The lists of serials say which appliances there are, also that there are none; the list of edges only adds to it.
    const isKnown = !errors.has('edge_serials') && !errors.has('file_iq_serials');
    if (!isKnown && (errors.size === INVENTORY_LISTS.length || inventory.appliances.size === 0)) {
      const mayBeMissing = settings.serials !== undefined && [...errors.values()].every(isForbidden);
      if (!mayBeMissing) throw failureOf([...errors.values()]);
    }
    const hasFailed = this.#logGaps();
    appliances.replace(inventory.appliances, drops.reportDrop);
    const samples = await this.#samples(drops.reportDrop);
    const times = [...this.#answers.values()].map(({ at }) => at).filter((at) => at >= freshAt);
    const answeredAt = times.length === 0 ? undefined : Math.min(...times);
    const isDoubtful = appliances.isDoubtful || hasFailed;
    return { samples, respondedAt: answeredAt, drops: drops.counts, empty: false, needsConfirmation: isDoubtful };
  }

  /** Asks for each list, and returns why some have no answer. Without the right, the earlier answer goes too. */
  async #ask(signal: AbortSignal): Promise<ReadonlyMap<ListName, Error>> {
    const { client, clock } = this.#parts;
    const errors = new Map<ListName, Error>();
    for (const { name, path, query } of INVENTORY_LISTS) {
      const check = (answer: unknown) => checkInventoryList(answer, path);
      const operation = path.slice(1);
      const request = {
        method: 'GET',
        path,
        operation,
        size: 'inventory',
        query,
        validate: check,
        priority: true,
      } as const;
      try {
        const body = await client.send(request, signal);
        this.#answers.set(name, { body, at: clock.monotonic() });
      } catch (thrown) {
        const error = asError(thrown);
        if (error instanceof CredentialError || (error instanceof RequestError && error.reason === 'aborted'))
          throw error;
        if (isForbidden(error)) this.#answers.delete(name);
        errors.set(name, error);
      }
    }
    return errors;
  }

  async #samples(note: ReportDrop): Promise<Sample[]> {
    const { appliances, clock, settings } = this.#parts;
    const rows = enabledCollectors(settings.collectors);
    const samples: Sample[] = [];
    for await (const appliance of iterateInSlices(appliances.assigned, clock)) {
      const { serial, name, type, build, availableBuild } = appliance;
      const record = { id: serial, type, build, available_build: availableBuild };
      samples.push(...toSamples(inventoryTable, [record], { serial, filer: name }));
      for (const { row } of rows) samples.push(...(row.inventorySamples?.(appliance, note) ?? []));
    }
    return samples;
  }

  /** Not if the operator has chosen to do without the list, and it is forbidden or empty. */
  #matters({ list, reason }: InventoryGap): boolean {
    const { collectors, serials } = this.#parts.settings;
    if (reason !== 'forbidden' && reason !== 'empty') return true;
    return list === 'edges' ? collectors.some(({ name }) => name === 'edges') : serials === undefined;
  }

  /** Logs each gap once, and its end; returns whether a list has failed that had not before. */
  #logGaps(): boolean {
    const { log } = this.#parts;
    const isIn = (gaps: readonly InventoryGap[]) => (gap: InventoryGap) =>
      gaps.some(({ list, reason }) => list === gap.list && reason === gap.reason);
    const opened = this.#gaps.filter((gap) => !isIn(this.#logged)(gap));
    const closed = this.#logged.filter((gap) => !isIn(this.#gaps)(gap));
    for (const { list, reason, message } of opened)
      log.warn({ list, reason, because: message }, 'the inventory has a gap');
    for (const { list, reason } of closed) log.info({ list, reason }, 'the gap in the inventory is closed');
    this.#logged = this.#gaps;
    return opened.some(({ reason }) => reason !== 'forbidden' && reason !== 'empty' && reason !== 'other_ids');
  }
}

function gapOf([list, error]: readonly [ListName, Error]): InventoryGap {
  const reason = failureReason(error);
  const right =
    list === 'edges' ? ', or leave edges out of PORTAL_COLLECTORS' : ', or list the appliances in PORTAL_SERIALS';
  const advice = reason === 'forbidden' ? `; give the role the right to read it${right}` : '';
  return { list, reason, message: `The list ${list} of the inventory is missing: ${error.message}${advice}.` };
}

function failureOf(errors: readonly Error[]): Error {
  const other = errors.find((error) => !isForbidden(error));
  if (other !== undefined) return other;
  const advice = 'give the role the right to read appliances, or list them in PORTAL_SERIALS';
  return new RequestError('status', `reading the inventory: GET /serials or GET /edges is forbidden (403); ${advice}`, {
    status: 403,
  });
}

import { type NoteDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { DropCount, type Reading } from '../../../metrics/snapshot.ts';
import type { Task } from '../../../metrics/task.ts';
import { CredentialError, RequestError } from '../../../runtime/errors.ts';
import { inTurns } from '../../../runtime/slices.ts';
import type { PortalParts } from '../collector-row.ts';
import { chosenRows } from '../collectors.ts';
import { checkInventoryList, INVENTORY_REQUESTS, type ListPath, readInventory, TELEMETRY_TYPES } from './inventory.ts';
import { inventoryTable } from './series.ts';

interface Answer {
  readonly body: unknown;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** Reads the appliances of the account into the index. */
export class InventoryCollector {
  readonly #parts: PortalParts;
  readonly #forbidden = new Set<string>();
  #lastEdges: Answer | undefined;
  #edgesFailing = false;

  constructor(parts: PortalParts) {
    this.#parts = parts;
  }

  get task(): Task {
    const { appliances, settings } = this.#parts;
    return {
      id: 'portal/inventory',
      api: 'portal',
      operation: 'serials',
      intervalMs: settings.discoveryIntervalMs,
      changesTasks: true,
      retriesSoon: true,
      first: true,
      requests: INVENTORY_REQUESTS,
      poll: (signal) => this.discover(signal).finally(() => appliances.settle()),
    };
  }

  /** Reads the inventory now. Rejects as a poll of it would. */
  async discover(signal: AbortSignal): Promise<Reading> {
    const { appliances, clock, settings } = this.#parts;
    const drops = new DropCount();
    const begunAt = clock.monotonic();
    const lists: Answer[] = [];
    for (const type of TELEMETRY_TYPES) {
      const list = await this.#list('/serials', { type, in_use: 'true' }, signal);
      if (list !== undefined) lists.push(list);
    }
    const edges = await this.#edges(signal);
    if (lists.length === 0 && edges === undefined && settings.serials === undefined) {
      throw new RequestError(
        'status',
        'reading the inventory: GET /serials and GET /edges were both rejected (403); give the role the right to read ' +
          'appliances, or list them in PORTAL_SERIALS',
        { status: 403 },
      );
    }
    // An old one is exposed if it will still be fresh in the next round, which follows within one and a half intervals.
    const freshMs = (settings.staleAfter - 1.5) * settings.discoveryIntervalMs;
    const areEdgesFresh = edges !== undefined && edges.at >= Math.min(begunAt, clock.monotonic() - freshMs);
    const serials = lists.length === 0 ? undefined : lists.map(({ body }) => body);
    appliances.take(readInventory({ serials, edges: edges?.body, areEdgesFresh }, drops.note), drops.note);
    const samples = await this.#samples(drops.note);
    const times = [...lists, ...(areEdgesFresh ? [edges] : [])].map(({ at }) => at);
    const answeredAt = times.length === 0 ? undefined : Math.min(...times);
    return { samples, answeredAt, drops: drops.counts, empty: false, isDoubtful: appliances.isDoubtful };
  }

  async #samples(note: NoteDrop): Promise<Sample[]> {
    const { appliances, clock, settings } = this.#parts;
    const rows = chosenRows(settings.collectors);
    const samples: Sample[] = [];
    for await (const appliance of inTurns(appliances.own, clock)) {
      const { serial, name, type, build, availableBuild } = appliance;
      const record = { id: serial, type, build, available_build: availableBuild };
      samples.push(...toSamples(inventoryTable, [record], { serial, filer: name }));
      for (const { row } of rows) samples.push(...(row.readout?.(appliance, note) ?? []));
    }
    return samples;
  }

  /**
   * The answer of `GET /edges`; undefined if it is rejected (403). It only improves names and builds, so other failures
   * do not stop appliances from being polled: the last good answer is used, and its other values are exposed while
   * fresh.
   */
  async #edges(signal: AbortSignal): Promise<Answer | undefined> {
    const { log } = this.#parts;
    try {
      this.#lastEdges = await this.#list('/edges', {}, signal);
      if (this.#edgesFailing) log.info('GET /edges available again');
      this.#edgesFailing = false;
    } catch (err) {
      if (err instanceof CredentialError || (err instanceof RequestError && err.fault === 'aborted')) throw err;
      if (!this.#edgesFailing) log.warn({ err }, 'GET /edges failed: keeping the last names and builds');
      this.#edgesFailing = true;
    }
    return this.#lastEdges;
  }

  /** Undefined if the list is rejected (403), which is logged once and tried again each round. */
  async #list(
    path: ListPath,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    const { client, clock, log } = this.#parts;
    const operation = path.slice(1);
    try {
      const check = (answer: unknown) => checkInventoryList(answer, path);
      const request = { method: 'GET', path, operation, size: 'inventory', query, check, turn: 'ahead' } as const;
      const body = await client.send(request, signal);
      if (this.#forbidden.delete(path)) log.info({ path }, 'list available again');
      return { body, at: clock.monotonic() };
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 403) throw error;
      if (!this.#forbidden.has(path)) log.warn({ path }, 'list rejected (403); continuing without it');
      this.#forbidden.add(path);
      return undefined;
    }
  }
}

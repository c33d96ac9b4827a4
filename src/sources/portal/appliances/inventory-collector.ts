import type { Fields } from '../../../metrics/family.ts';
import { type NoteDrop, type Sample, toSamples } from '../../../metrics/samples.ts';
import { DropCount, type Reading } from '../../../metrics/snapshot.ts';
import type { Task } from '../../../metrics/task.ts';
import { CredentialError, RequestError } from '../../../runtime/errors.ts';
import { inTurns } from '../../../runtime/slices.ts';
import type { PortalParts } from '../collector-row.ts';
import {
  type Appliance,
  type ApplianceIndex,
  checkInventoryList,
  type Inventory,
  type InventoryReadout,
  readInventory,
  TELEMETRY_TYPES,
  unknownAppliance,
} from './inventory.ts';
import { inventoryTable } from './series.ts';
import { shardOf } from './shard.ts';

interface Answer {
  readonly body: unknown;
  /** Monotonic milliseconds. */
  readonly at: number;
}

export class InventoryCollector implements ApplianceIndex {
  readonly #parts: Pick<PortalParts, 'client' | 'clock' | 'log' | 'settings'>;
  readonly #readouts: readonly InventoryReadout[];
  readonly #forbidden = new Set<string>();
  #lastEdges: Answer | undefined;
  #edgesFailing = false;
  #isTooMany = false;
  #hasBeenAsked = false;
  #inventory: Inventory;
  #byEdgeId: ReadonlyMap<string, Appliance> = new Map();
  /** The appliances that were missing in the last answer: removed if they are missing in the next one too. */
  #missing: ReadonlySet<string> = new Set();
  #own: readonly Appliance[];

  constructor(
    parts: Pick<PortalParts, 'client' | 'clock' | 'log' | 'settings'>,
    readouts: readonly InventoryReadout[],
  ) {
    this.#parts = parts;
    this.#readouts = readouts;
    const { serials = [] } = parts.settings;
    this.#inventory = new Map(serials.map((serial) => [serial, this.#named(unknownAppliance(serial))]));
    this.#own = this.#ownOf(this.#inventory);
  }

  get hasBeenAsked(): boolean {
    return this.#hasBeenAsked;
  }

  tasks(): readonly Task[] {
    const { discoveryIntervalMs, names } = this.#parts.settings;
    const poll = (signal: AbortSignal) =>
      this.discover(signal).finally(() => {
        this.#hasBeenAsked = true;
        names?.settle();
      });
    return [
      {
        ...{ id: 'portal/inventory', api: 'portal', operation: 'serials', intervalMs: discoveryIntervalMs, poll },
        ...{ changesTasks: true, retriesSoon: true, first: true, requests: TELEMETRY_TYPES.length + 1 },
      },
    ];
  }

  own(): readonly Appliance[] {
    return this.#own;
  }

  all(): Iterable<Appliance> {
    return this.#inventory.values();
  }

  find(id: string): Appliance | undefined {
    const key = id.toLowerCase();
    return this.#inventory.get(key) ?? this.#byEdgeId.get(key);
  }

  /** Reads the inventory now. Rejects as a poll of it would. */
  async discover(signal: AbortSignal): Promise<Reading> {
    const drops = new DropCount();
    const begunAt = this.#parts.clock.monotonic();
    const lists: Answer[] = [];
    for (const type of TELEMETRY_TYPES) {
      const list = await this.#list('/serials', 'serials', { type, in_use: 'true' }, signal);
      if (list !== undefined) lists.push(list);
    }
    const edges = await this.#edges(signal);
    const { serials, staleAfter, discoveryIntervalMs } = this.#parts.settings;
    if (lists.length === 0 && edges === undefined && serials === undefined) {
      throw new RequestError(
        'status',
        'reading the inventory: GET /serials and GET /edges were both rejected (403); give the role the right to read ' +
          'appliances, or list them in PORTAL_SERIALS',
        { status: 403 },
      );
    }
    // An old one is exposed if it will still be fresh in the next round, which follows within one and a half intervals.
    const oldestMs = Math.min(begunAt, this.#parts.clock.monotonic() - (staleAfter - 1.5) * discoveryIntervalMs);
    const areEdgesFresh = edges !== undefined && edges.at >= oldestMs;
    const bodies = lists.length === 0 ? undefined : lists.map(({ body }) => body);
    const listed = readInventory({ serials: bodies, edges: edges?.body, areEdgesFresh }, drops.note);
    this.#take(this.#withDoubtful(listed), drops.note);
    const samples = await this.#samples(drops.note);
    const exposed = areEdgesFresh ? [...lists, edges] : lists;
    const [answeredAt] = exposed.map(({ at }) => at).sort((one, other) => one - other);
    return { samples, answeredAt, drops: drops.counts, empty: false, isDoubtful: this.#missing.size > 0 };
  }

  async #samples(note: NoteDrop): Promise<Sample[]> {
    const samples: Sample[] = [];
    for await (const appliance of inTurns(this.#own, this.#parts.clock)) {
      samples.push(...inventorySamples(appliance));
      for (const readout of this.#readouts) samples.push(...readout(appliance, note));
    }
    return samples;
  }

  /** The listed appliances, and those that are missing for the first time: a single answer removes no appliance. */
  #withDoubtful(listed: Inventory): Inventory {
    const missing = [...this.#inventory].filter(
      ([serial]) => !listed.has(serial) && !this.#parts.settings.serials?.includes(serial),
    );
    const doubtful = missing.filter(([serial]) => !this.#missing.has(serial));
    this.#missing = new Set(doubtful.map(([serial]) => serial));
    const all = new Map(listed);
    for (const [serial, appliance] of doubtful) all.set(serial, { ...appliance, records: {} });
    return all;
  }

  #take(listed: Inventory, note: NoteDrop): void {
    const all = new Map(listed);
    for (const serial of this.#parts.settings.serials ?? [])
      if (!all.has(serial)) all.set(serial, unknownAppliance(serial));
    // Before any appliance gets its name: a filer of the other service may belong to another shard.
    this.#parts.settings.names?.takeInventory(namesOf(listed));
    for (const [serial, appliance] of all) all.set(serial, this.#named(appliance));
    this.#inventory = all;
    const edges = [...all.values()].filter(({ edgeId }) => edgeId !== '');
    this.#byEdgeId = new Map(edges.map((appliance) => [appliance.edgeId, appliance]));
    this.#own = this.#bounded(this.#ownOf(all), note);
  }

  /** The first appliances that fit into memory: polling part of a fleet is better than a crash. */
  #bounded(own: readonly Appliance[], note: NoteDrop): readonly Appliance[] {
    const { serials, mostAppliances: most = Number.POSITIVE_INFINITY } = this.#parts.settings;
    const isTooMany = serials === undefined && own.length > most;
    if (isTooMany && !this.#isTooMany) {
      const advice =
        'give the process more memory, divide the fleet with TOTAL_SHARDS, or name appliances in PORTAL_SERIALS';
      this.#parts.log.warn({ appliances: own.length, polled: most }, `not enough memory for all appliances: ${advice}`);
    }
    this.#isTooMany = isTooMany;
    if (!isTooMany) return own;
    for (const { serial } of own.slice(most)) note('record', serial);
    return own.slice(0, most);
  }

  #named(appliance: Appliance): Appliance {
    const { serial, name } = appliance;
    const called = this.#parts.settings.names?.ofAppliance(serial, name === serial ? undefined : name);
    return called === undefined || called === name ? appliance : { ...appliance, name: called };
  }

  /** The chosen appliances of this instance's shard. */
  #ownOf(inventory: Inventory): readonly Appliance[] {
    const { serials, shard } = this.#parts.settings;
    const there = serials === undefined ? [...inventory.values()] : serials.flatMap((one) => inventory.get(one) ?? []);
    return there.filter(({ serial }) => shardOf(serial, shard.total) === shard.index);
  }

  /**
   * The answer of `GET /edges`; undefined if it is rejected (403). It only improves names and builds, so other failures
   * do not stop appliances from being polled: the last good answer is used, and its other values are exposed while
   * fresh.
   */
  async #edges(signal: AbortSignal): Promise<Answer | undefined> {
    try {
      this.#lastEdges = await this.#list('/edges', 'edges', {}, signal);
      if (this.#edgesFailing) this.#parts.log.info('GET /edges available again');
      this.#edgesFailing = false;
    } catch (err) {
      if (err instanceof CredentialError || isAborted(err)) throw err;
      if (!this.#edgesFailing) this.#parts.log.warn({ err }, 'GET /edges failed: keeping the last names and builds');
      this.#edgesFailing = true;
    }
    return this.#lastEdges;
  }

  /** One list of the inventory; undefined if it is rejected (403), which is logged once and tried again each round. */
  async #list(
    path: '/serials' | '/edges',
    operation: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answer | undefined> {
    try {
      const check = (answer: unknown) => checkInventoryList(answer, path);
      const request = { method: 'GET', path, operation, size: 'inventory', query, check, turn: 'ahead' } as const;
      const body = await this.#parts.client.send(request, signal);
      if (this.#forbidden.delete(path)) this.#parts.log.info({ path }, 'list available again');
      return { body, at: this.#parts.clock.monotonic() };
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 403) throw error;
      if (!this.#forbidden.has(path)) this.#parts.log.warn({ path }, 'list rejected (403); continuing without it');
      this.#forbidden.add(path);
      return undefined;
    }
  }
}

/** The names in the inventory, by serial: an appliance without a name has its serial there. */
function namesOf(inventory: Inventory): ReadonlyMap<string, string> {
  const named = [...inventory.values()].filter(({ serial, name }) => name !== serial);
  return new Map(named.map(({ serial, name }) => [serial, name]));
}

function isAborted(error: unknown): boolean {
  return error instanceof RequestError && error.fault === 'aborted';
}

function inventorySamples({ serial, name, type, build, availableBuild }: Appliance): Sample[] {
  const record: Fields = { id: serial, type, build, available_build: availableBuild };
  return toSamples(inventoryTable, [record], { serial, filer: name });
}

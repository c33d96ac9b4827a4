import type { Fields } from '../../metrics/family.ts';
import { holdsValue, type Sample, toSamples } from '../../metrics/samples.ts';
import { DropCount, type Reading } from '../../metrics/snapshot.ts';
import type { Collector, Task } from '../../metrics/task.ts';
import { CredentialError, RequestError } from '../../runtime/errors.ts';
import type { Log } from '../../runtime/log.ts';
import { fitsBuild } from './builds.ts';
import type { PortalClient } from './client.ts';
import {
  type Appliance,
  checkInventoryList,
  type Inventory,
  readInventory,
  TELEMETRY_TYPES,
  unknownAppliance,
} from './inventory.ts';
import { Lookback } from './lookback.ts';
import { type Operation, operationsFor } from './operations.ts';
import { inventoryTable, seriesTimestamp } from './series.ts';
import { shardOf } from './shard.ts';

/** What is polled of the portal, and how often. */
export interface PortalSettings {
  /** The series to ask for, each with its own interval in milliseconds. */
  readonly series: readonly { readonly name: string; readonly intervalMs: number }[];
  readonly discoveryIntervalMs: number;
  /** These serials only, in lower case; undefined for all that the inventory has. */
  readonly serials: readonly string[] | undefined;
  readonly shard: { readonly index: number; readonly total: number };
  readonly lookbackMs: number;
  readonly binSeconds: number;
}

/** What polls the portal: the inventory, and each chosen series of each appliance in it. */
export class PortalCollector implements Collector {
  readonly api = 'portal';
  readonly #client: PortalClient;
  readonly #settings: PortalSettings;
  readonly #log: Log;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #lookback: Lookback;
  readonly #forbidden = new Set<string>();
  #lastEdges: unknown;
  #edgesFailing = false;
  #inventory: Inventory;

  constructor(client: PortalClient, settings: PortalSettings, log: Log) {
    this.#client = client;
    this.#settings = settings;
    this.#log = log;
    this.#operations = operationsFor(settings.series.map(({ name }) => name));
    this.#lookback = new Lookback(settings.lookbackMs);
    this.#inventory = new Map((settings.serials ?? []).map((serial) => [serial, unknownAppliance(serial)]));
  }

  /** The appliances that this instance polls: those chosen, of its own shard. */
  get appliances(): readonly Appliance[] {
    const { serials, shard } = this.#settings;
    const chosen = serials === undefined ? undefined : new Set(serials);
    return [...this.#inventory.values()].filter(
      ({ serial }) => (chosen?.has(serial) ?? true) && shardOf(serial, shard.total) === shard.index,
    );
  }

  /** Reads the inventory now and counts the appliances of this instance. Rejects as a poll of it would. */
  async countAppliances(signal: AbortSignal): Promise<number> {
    await this.#discover(signal);
    return this.appliances.length;
  }

  tasks(): readonly Task[] {
    const tasks: Task[] = [
      {
        id: 'portal/inventory',
        api: 'portal',
        operation: 'serials',
        intervalMs: this.#settings.discoveryIntervalMs,
        changesTasks: true,
        poll: (signal) => this.#discover(signal),
      },
    ];
    for (const appliance of this.appliances) {
      for (const { name, intervalMs } of this.#settings.series) {
        const operation = this.#operations.get(name);
        if (operation !== undefined) tasks.push(this.#seriesTask(appliance, name, operation, intervalMs));
      }
    }
    return tasks;
  }

  #seriesTask(appliance: Appliance, name: string, operation: Operation, intervalMs: number): Task {
    const { discoveryIntervalMs } = this.#settings;
    const { serial } = appliance;
    const id = `portal/${serial}/${name}`;
    return {
      id,
      api: 'portal',
      operation: name,
      appliance: { serial, name: appliance.name },
      intervalMs: fitsBuild(name, appliance.build) ? intervalMs : Math.max(intervalMs, discoveryIntervalMs),
      restMs: discoveryIntervalMs,
      poll: (signal) => this.#pollSeries(id, serial, name, operation, signal),
    };
  }

  async #pollSeries(
    id: string,
    serial: string,
    name: string,
    operation: Operation,
    signal: AbortSignal,
  ): Promise<Reading> {
    const body = await this.#ask(id, `/telemetry/appliances/${encodeURIComponent(serial)}/${name}`, operation, signal);
    const drops = new DropCount();
    const records = operation.records(body, drops.note);
    const subject = { serial, filer: this.#inventory.get(serial)?.name ?? serial };
    const samples = toSamples(operation.families, records, subject, drops.note);
    const used = records.find((record) => holdsValue(operation.families, record));
    if (used !== undefined) samples.push(...toSamples([seriesTimestamp], [used], { ...subject, series: name }));
    return { samples, drops: drops.counts, empty: records.length === 0 };
  }

  async #ask(id: string, path: string, operation: Operation, signal: AbortSignal): Promise<unknown> {
    const name = path.slice(path.lastIndexOf('/') + 1);
    for (;;) {
      const json = operation.body(this.#lookback.of(id), this.#settings.binSeconds);
      try {
        const check = (answer: unknown) => operation.records(answer, () => {});
        const body = await this.#client.send({ method: 'POST', path, operation: name, json, check }, signal);
        this.#lookback.recover(id);
        return body;
      } catch (error) {
        const tooMuch = error instanceof RequestError && (error.status === 408 || error.status === 413);
        if (!tooMuch || !this.#lookback.shorten(id)) throw error;
      }
    }
  }

  async #discover(signal: AbortSignal): Promise<Reading> {
    const drops = new DropCount();
    const lists: unknown[] = [];
    for (const type of TELEMETRY_TYPES) {
      const list = await this.#list('/serials', 'serials', { type, in_use: 'true' }, signal);
      if (list !== undefined) lists.push(list);
    }
    const edges = await this.#edges(signal);
    const { serials } = this.#settings;
    if (lists.length === 0 && edges === undefined && serials === undefined) {
      throw new RequestError(
        'status',
        'reading the inventory: GET /serials and GET /edges are both forbidden; give the role the right to read ' +
          'appliances, or list them in PORTAL_SERIALS',
        { status: 403 },
      );
    }
    const listed = readInventory({ serials: lists.length === 0 ? undefined : lists, edges }, drops.note);
    const chosen = (serials ?? []).map((serial) => [serial, listed.get(serial) ?? unknownAppliance(serial)] as const);
    this.#inventory = serials === undefined ? listed : new Map(chosen);
    const samples = this.appliances.flatMap((appliance) => inventorySamples(appliance));
    return { samples, drops: drops.counts, empty: false };
  }

  /**
   * The body of `GET /edges`; undefined where it is forbidden. It only says names and builds better, so whatever else is
   * wrong with it keeps no appliance from being polled: then the last good answer stands.
   */
  async #edges(signal: AbortSignal): Promise<unknown> {
    try {
      const body = await this.#list('/edges', 'edges', {}, signal);
      this.#lastEdges = body;
      if (this.#edgesFailing) this.#log.info('GET /edges can be read again');
      this.#edgesFailing = false;
    } catch (err) {
      if (err instanceof CredentialError || isAborted(err)) throw err;
      if (!this.#edgesFailing) this.#log.warn({ err }, 'GET /edges fails: names and builds stay as it last said');
      this.#edgesFailing = true;
    }
    return this.#lastEdges;
  }

  /** One list of the inventory; undefined where it is forbidden, which is logged once and looked at again each round. */
  async #list(
    path: '/serials' | '/edges',
    operation: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<unknown> {
    try {
      const check = (answer: unknown) => checkInventoryList(answer, path);
      const body = await this.#client.send({ method: 'GET', path, operation, query, check }, signal);
      if (this.#forbidden.delete(path)) this.#log.info({ path }, 'the portal allows this list again');
      return body;
    } catch (error) {
      if (!(error instanceof RequestError) || error.status !== 403) throw error;
      if (!this.#forbidden.has(path)) this.#log.warn({ path }, 'the portal forbids this list: doing without it');
      this.#forbidden.add(path);
      return undefined;
    }
  }
}

function isAborted(error: unknown): boolean {
  return error instanceof RequestError && error.fault === 'aborted';
}

function inventorySamples({ serial, name, type, build, availableBuild }: Appliance): Sample[] {
  const record: Fields = { id: serial, type, build, available_build: availableBuild };
  return toSamples(inventoryTable, [record], { serial, filer: name });
}

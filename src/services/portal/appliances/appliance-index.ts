import type { ReportDrop } from '../../../metrics/samples.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PortalOptions } from '../settings.ts';
import { type Appliance, type Inventory, unknownAppliance } from './inventory.ts';
import { shardOf } from './shard.ts';

type IndexOptions = Pick<PortalOptions, 'serials' | 'shard' | 'names' | 'maxAppliances'>;

/** The appliances of the latest inventory and of PORTAL_SERIALS, each with its name. */
export class ApplianceIndex {
  readonly #options: IndexOptions;
  readonly #log: Log;
  #bySerial: Inventory = new Map();
  #byEdgeId: Inventory = new Map();
  #assigned: readonly Appliance[] = [];
  /** The appliances that were missing in the last inventory. If they are missing in the next one too, they are removed. */
  #missing: ReadonlySet<string> = new Set();
  #exceedsLimit = false;
  #isInventoryRead = false;

  constructor(options: IndexOptions, log: Log) {
    this.#options = options;
    this.#log = log;
    this.replace(new Map(), () => {});
  }

  /** Whether the inventory has been read once, successfully or not. Before that, find() finds nothing. */
  get isInventoryRead(): boolean {
    return this.#isInventoryRead;
  }

  get needsConfirmation(): boolean {
    return this.#missing.size > 0;
  }

  /** The appliances that this instance polls: those of its shard, as many as fit into memory. */
  get assigned(): readonly Appliance[] {
    return this.#assigned;
  }

  /** Every appliance, including those of other shards. */
  all(): Iterable<Appliance> {
    return this.#bySerial.values();
  }

  /** Finds an appliance by its serial or its edge id, in upper or lower case. */
  find(id: string): Appliance | undefined {
    const key = id.toLowerCase();
    return this.#bySerial.get(key) ?? this.#byEdgeId.get(key);
  }

  markInventoryRead(): void {
    this.#isInventoryRead = true;
    this.#options.names?.markInventoryRead();
  }

  /** Replaces the inventory. An appliance that is missing for the first time stays, without its records. */
  replace(listed: Inventory, reportDrop: ReportDrop): void {
    const { names, serials = [] } = this.#options;
    const missing = [...this.#bySerial.values()].filter(
      ({ serial }) => !listed.has(serial) && !serials.includes(serial) && !this.#missing.has(serial),
    );
    this.#missing = new Set(missing.map(({ serial }) => serial));
    const kept = [...listed.values(), ...missing.map((appliance) => ({ ...appliance, records: {} }))];
    const unlisted = serials.filter((serial) => !listed.has(serial)).map(unknownAppliance);
    const known = [...kept, ...unlisted];
    // Before any appliance gets its name: a filer of the other service may belong to another shard.
    names?.setInventory(new Map(known.map((appliance) => [appliance.serial, ownName(appliance)])), this.#missing);
    const all = known.map((appliance) => this.#withUniqueName(appliance));
    this.#bySerial = new Map(all.map((appliance) => [appliance.serial, appliance]));
    const edges = all.filter(({ edgeId }) => edgeId !== '');
    this.#byEdgeId = new Map(edges.map((appliance) => [appliance.edgeId, appliance]));
    this.#assigned = this.#selectAssigned(reportDrop);
  }

  #withUniqueName(appliance: Appliance): Appliance {
    const { serial, name } = appliance;
    const uniqueName = this.#options.names?.applianceName(serial, ownName(appliance));
    return uniqueName === undefined || uniqueName === name ? appliance : { ...appliance, name: uniqueName };
  }

  /** If not all appliances fit into memory, only the first ones are polled, because a part of the fleet is better than a crash. */
  #selectAssigned(reportDrop: ReportDrop): readonly Appliance[] {
    const { serials, shard, maxAppliances = Number.POSITIVE_INFINITY } = this.#options;
    const chosen = serials?.flatMap((serial) => this.#bySerial.get(serial) ?? []) ?? [...this.#bySerial.values()];
    const assigned = chosen.filter(({ serial }) => shardOf(serial, shard.total) === shard.index);
    const exceedsLimit = serials === undefined && assigned.length > maxAppliances;
    if (exceedsLimit && !this.#exceedsLimit) {
      const advice =
        'give the process more memory, divide the fleet with TOTAL_SHARDS, or name appliances in PORTAL_SERIALS';
      this.#log.warn(
        { appliances: assigned.length, polled: maxAppliances },
        `the memory is too small to poll all appliances: ${advice}`,
      );
    }
    this.#exceedsLimit = exceedsLimit;
    if (!exceedsLimit) return assigned;
    for (const { serial } of assigned.slice(maxAppliances)) reportDrop('record', serial);
    return assigned.slice(0, maxAppliances);
  }
}

/** An appliance whose name is unknown has its serial as its name. */
function ownName({ serial, name }: Appliance): string | undefined {
  return name === serial ? undefined : name;
}

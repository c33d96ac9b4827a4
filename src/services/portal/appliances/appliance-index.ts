import type { ReportDrop } from '../../../metrics/samples.ts';
import type { Log } from '../../../runtime/log.ts';
import type { PortalOptions } from '../settings.ts';
import { type Appliance, type Inventory, unknownAppliance } from './inventory.ts';
import { shardOf } from './shard.ts';

type IndexOptions = Pick<PortalOptions, 'serials' | 'shard' | 'names' | 'maxAppliances'>;

/** The appliances of the latest inventory and of PORTAL_SERIALS, each with its name. */
export class ApplianceIndex {
  readonly #settings: IndexOptions;
  readonly #log: Log;
  #bySerial: Inventory = new Map();
  #byEdgeId: Inventory = new Map();
  #own: readonly Appliance[] = [];
  /** The appliances that were missing in the last answer: removed if they are missing in the next one too. */
  #missing: ReadonlySet<string> = new Set();
  #isTooMany = false;
  #hasBeenAsked = false;

  constructor(settings: IndexOptions, log: Log) {
    this.#settings = settings;
    this.#log = log;
    this.replace(new Map(), () => {});
  }

  /** Whether the inventory has been read once, successfully or not: before that nothing is found. */
  get isInventoryRead(): boolean {
    return this.#hasBeenAsked;
  }

  get isDoubtful(): boolean {
    return this.#missing.size > 0;
  }

  /** The chosen appliances of this instance's shard, as far as they fit into memory. */
  get assigned(): readonly Appliance[] {
    return this.#own;
  }

  /** Every appliance, including those of other shards. */
  all(): Iterable<Appliance> {
    return this.#bySerial.values();
  }

  /** By serial or by edge id, in any case. */
  find(id: string): Appliance | undefined {
    const key = id.toLowerCase();
    return this.#bySerial.get(key) ?? this.#byEdgeId.get(key);
  }

  markInventoryRead(): void {
    this.#hasBeenAsked = true;
    this.#settings.names?.markInventoryRead();
  }

  /** An appliance that is missing for the first time stays, without its records: a single answer removes none. */
  replace(listed: Inventory, note: ReportDrop): void {
    const { names, serials = [] } = this.#settings;
    const doubtful = [...this.#bySerial.values()].filter(
      ({ serial }) => !listed.has(serial) && !serials.includes(serial) && !this.#missing.has(serial),
    );
    this.#missing = new Set(doubtful.map(({ serial }) => serial));
    const known = [...listed.values(), ...doubtful.map((appliance) => ({ ...appliance, records: {} }))];
    // Before any appliance gets its name: a filer of the other service may belong to another shard.
    names?.setInventory(new Map(known.filter(hasName).map(({ serial, name }) => [serial, name])), this.#missing);
    const unlisted = serials.filter((serial) => !listed.has(serial)).map(unknownAppliance);
    const all = [...known, ...unlisted].map((appliance) => this.#named(appliance));
    this.#bySerial = new Map(all.map((appliance) => [appliance.serial, appliance]));
    const edges = all.filter(({ edgeId }) => edgeId !== '');
    this.#byEdgeId = new Map(edges.map((appliance) => [appliance.edgeId, appliance]));
    this.#own = this.#chosen(note);
  }

  #named(appliance: Appliance): Appliance {
    const { serial, name } = appliance;
    const called = this.#settings.names?.applianceName(serial, hasName(appliance) ? name : undefined);
    return called === undefined || called === name ? appliance : { ...appliance, name: called };
  }

  /** Where not all fit into memory, the first ones: polling part of a fleet is better than a crash. */
  #chosen(note: ReportDrop): readonly Appliance[] {
    const { serials, shard, maxAppliances: most = Number.POSITIVE_INFINITY } = this.#settings;
    const chosen = serials?.flatMap((serial) => this.#bySerial.get(serial) ?? []) ?? [...this.#bySerial.values()];
    const own = chosen.filter(({ serial }) => shardOf(serial, shard.total) === shard.index);
    const isTooMany = serials === undefined && own.length > most;
    if (isTooMany && !this.#isTooMany) {
      const advice =
        'give the process more memory, divide the fleet with TOTAL_SHARDS, or name appliances in PORTAL_SERIALS';
      this.#log.warn({ appliances: own.length, polled: most }, `not enough memory for all appliances: ${advice}`);
    }
    this.#isTooMany = isTooMany;
    if (!isTooMany) return own;
    for (const { serial } of own.slice(most)) note('record', serial);
    return own.slice(0, most);
  }
}

/** Without a name, an appliance has its serial as its name. */
function hasName({ serial, name }: Appliance): boolean {
  return name !== serial;
}

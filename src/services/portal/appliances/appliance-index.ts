import type { ReportDrop } from '../../../metrics/samples.ts';
import type { Log } from '../../../runtime/log.ts';
import type { FilerNames } from '../../filer-names.ts';
import type { PortalOptions } from '../context.ts';
import { type Appliance, type Inventory, unknownAppliance } from './inventory.ts';

type IndexOptions = Pick<PortalOptions, 'serials' | 'maxAppliances'>;

/** The appliances of the latest inventory and of PORTAL_SERIALS, each with its name. */
export class ApplianceIndex {
  /** Whether the inventory has been read once, successfully or not. Before that, find() finds nothing. */
  isInventoryRead = false;
  readonly #options: IndexOptions;
  readonly #log: Log;
  readonly #names: FilerNames | undefined;
  /** By serial, with their names in the inventory. */
  #known: Inventory = new Map();
  /** With their names that are unique over both services. */
  #bySerial: Inventory = new Map();
  #byEdgeId: Inventory = new Map();
  #polled: readonly Appliance[] = [];
  /** The appliances that were missing in the last inventory. If they are missing in the next one too, they are removed. */
  #missing: ReadonlySet<string> = new Set();
  #renamings = 0;
  #exceedsLimit = false;

  /** `names` makes the names of filers equal in both services; without it an appliance has its name in the inventory. */
  constructor(options: IndexOptions, log: Log, names?: FilerNames) {
    this.#options = options;
    this.#log = log;
    this.#names = names;
    this.replace(new Map(), () => {});
  }

  get needsConfirmation(): boolean {
    return this.#missing.size > 0;
  }

  /** The appliances that are polled: those of PORTAL_SERIALS, or as many of the inventory as fit into memory. */
  get polled(): readonly Appliance[] {
    return this.#polled;
  }

  /** Changes whenever an appliance is renamed. */
  get names(): string {
    return String(this.#renamings);
  }

  /** Finds an appliance by its serial or its edge id, in upper or lower case. */
  find(id: string): Appliance | undefined {
    const key = id.toLowerCase();
    return this.#bySerial.get(key) ?? this.#byEdgeId.get(key);
  }

  /** An arrow function, so that it can be passed on without its object. */
  readonly nameOf = (id: string): string | undefined => this.find(id)?.name;

  markInventoryRead(): void {
    this.isInventoryRead = true;
    if (this.#names !== undefined) this.#names.isInventoryRead = true;
  }

  /**
   * Replaces the inventory. An appliance that is missing for the first time stays, and one of PORTAL_SERIALS that no list
   * has keeps what was known of it.
   */
  replace(listed: Inventory, reportDrop: ReportDrop): void {
    const { serials = [] } = this.#options;
    const isMissing = ({ serial }: Appliance) => !listed.has(serial) && !serials.includes(serial);
    const missing = [...this.#known.values()].filter((one) => isMissing(one) && !this.#missing.has(one.serial));
    const unlisted = serials
      .filter((serial) => !listed.has(serial))
      .map((serial) => this.#known.get(serial) ?? unknownAppliance(serial));
    const known = [...listed.values(), ...missing, ...unlisted];
    this.#known = new Map(known.map((appliance) => [appliance.serial, appliance]));
    this.#missing = new Set(missing.map(({ serial }) => serial));
    this.#names?.setInventory(new Map(known.map((appliance) => [appliance.serial, ownName(appliance)])), this.#missing);
    const nameOf = (one: Appliance) => this.#names?.applianceName(one.serial, ownName(one)) ?? one.name;
    const named = known.map((appliance) => ({ ...appliance, name: nameOf(appliance) }));
    if (named.some(({ serial, name }) => (this.#bySerial.get(serial)?.name ?? name) !== name)) this.#renamings += 1;
    this.#bySerial = new Map(named.map((appliance) => [appliance.serial, appliance]));
    const edges = named.filter(({ edgeId }) => edgeId !== '');
    this.#byEdgeId = new Map(edges.map((appliance) => [appliance.edgeId, appliance]));
    this.#polled = this.#selectPolled(reportDrop);
  }

  /**
   * If not all appliances fit into memory, only some are polled, because a part of the fleet is better than a crash: the
   * same ones in any order of the list.
   */
  #selectPolled(reportDrop: ReportDrop): readonly Appliance[] {
    const { serials, maxAppliances } = this.#options;
    if (serials !== undefined) return serials.flatMap((serial) => this.#bySerial.get(serial) ?? []);
    const all = [...this.#bySerial.values()];
    const exceedsLimit = all.length > maxAppliances;
    if (exceedsLimit && !this.#exceedsLimit) {
      const advice = 'give the process more memory, or name appliances in PORTAL_SERIALS';
      const counts = { appliances: all.length, polled: maxAppliances };
      this.#log.warn({ ...counts, advice }, 'The memory was too small to poll all appliances.');
    }
    this.#exceedsLimit = exceedsLimit;
    if (!exceedsLimit) return all;
    all.sort((one, other) => (one.serial < other.serial ? -1 : 1));
    for (const { serial } of all.slice(maxAppliances)) reportDrop('record', serial);
    return all.slice(0, maxAppliances);
  }
}

/** An appliance whose name is unknown has its serial as its name. */
function ownName({ serial, name }: Appliance): string | undefined {
  return name === serial ? undefined : name;
}

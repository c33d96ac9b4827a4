import type { Task } from '../../../contract/task.ts';
import type { ReportDrop } from '../../../metrics/samples.ts';
import type { Log } from '../../../runtime/log.ts';
import type { FilerNames } from '../../filer-names.ts';
import type { PortalOptions } from '../collector-options.ts';
import { type Appliance, type Inventory, unknownAppliance } from './inventory.ts';

type IndexOptions = Pick<PortalOptions, 'serials' | 'maxAppliances'>;

/** The appliances of the latest inventory and of PORTAL_SERIALS, each with its name. */
export class ApplianceIndex {
  readonly #options: IndexOptions;
  readonly #log: Log;
  readonly #names: FilerNames | undefined;
  #bySerial: Inventory = new Map();
  #byEdgeId: Inventory = new Map();
  #polled: readonly Appliance[] = [];
  /** The appliances that were missing in the last inventory. If they are missing in the next one too, they are removed. */
  #missing: ReadonlySet<string> = new Set();
  #exceedsLimit = false;
  #isInventoryRead = false;

  /** `names` makes the names of filers equal in both services; without it an appliance has its name in the inventory. */
  constructor(options: IndexOptions, log: Log, names?: FilerNames) {
    this.#options = options;
    this.#log = log;
    this.#names = names;
    this.replace(new Map(), () => {});
  }

  /** Whether the inventory has been read once, successfully or not. Before that, find() finds nothing. */
  get isInventoryRead(): boolean {
    return this.#isInventoryRead;
  }

  get needsConfirmation(): boolean {
    return this.#missing.size > 0;
  }

  /** The appliances that are polled: those of PORTAL_SERIALS, or as many of the inventory as fit into memory. */
  get polled(): readonly Appliance[] {
    return this.#polled;
  }

  /** Every appliance, also those that are not polled. */
  all(): Iterable<Appliance> {
    return this.#bySerial.values();
  }

  /** Finds an appliance by its serial or its edge id, in upper or lower case. */
  find(id: string): Appliance | undefined {
    const key = id.toLowerCase();
    return this.#bySerial.get(key) ?? this.#byEdgeId.get(key);
  }

  /** An arrow function, so that it can be passed on without its object. */
  readonly nameOf = (id: string): string | undefined => this.find(id)?.name;

  markInventoryRead(): void {
    this.#isInventoryRead = true;
    this.#names?.markInventoryRead();
  }

  /** Replaces the inventory. An appliance that is missing for the first time stays, without its records. */
  replace(listed: Inventory, reportDrop: ReportDrop): void {
    const { serials = [] } = this.#options;
    const missing = [...this.#bySerial.values()].filter(
      ({ serial }) => !listed.has(serial) && !serials.includes(serial) && !this.#missing.has(serial),
    );
    this.#missing = new Set(missing.map(({ serial }) => serial));
    const kept = [...listed.values(), ...missing.map((appliance) => ({ ...appliance, records: {} }))];
    const unlisted = serials.filter((serial) => !listed.has(serial)).map(unknownAppliance);
    const known = [...kept, ...unlisted];
    this.#names?.setInventory(new Map(known.map((appliance) => [appliance.serial, ownName(appliance)])), this.#missing);
    const all = known.map((appliance) => this.#withUniqueName(appliance));
    this.#bySerial = new Map(all.map((appliance) => [appliance.serial, appliance]));
    const edges = all.filter(({ edgeId }) => edgeId !== '');
    this.#byEdgeId = new Map(edges.map((appliance) => [appliance.edgeId, appliance]));
    this.#polled = this.#selectPolled(reportDrop);
  }

  #withUniqueName(appliance: Appliance): Appliance {
    const { serial, name } = appliance;
    const uniqueName = this.#names?.applianceName(serial, ownName(appliance));
    return uniqueName === undefined || uniqueName === name ? appliance : { ...appliance, name: uniqueName };
  }

  /** If not all appliances fit into memory, only the first ones are polled, because a part of the fleet is better than a crash. */
  #selectPolled(reportDrop: ReportDrop): readonly Appliance[] {
    const { serials, maxAppliances = Number.POSITIVE_INFINITY } = this.#options;
    const chosen = serials?.flatMap((serial) => this.#bySerial.get(serial) ?? []) ?? [...this.#bySerial.values()];
    const exceedsLimit = serials === undefined && chosen.length > maxAppliances;
    if (exceedsLimit && !this.#exceedsLimit) {
      const advice = 'give the process more memory, or name appliances in PORTAL_SERIALS';
      this.#log.warn(
        { appliances: chosen.length, polled: maxAppliances },
        `the memory is too small to poll all appliances: ${advice}`,
      );
    }
    this.#exceedsLimit = exceedsLimit;
    if (!exceedsLimit) return chosen;
    for (const { serial } of chosen.slice(maxAppliances)) reportDrop('record', serial);
    return chosen.slice(0, maxAppliances);
  }
}

/**
 * Returns a function that lists the tasks of the present appliances. The tasks of an appliance are made once, and anew
 * only after its name, its build or its edge id has changed.
 */
export function tasksOfAppliances(
  index: ApplianceIndex,
  make: (appliance: Appliance) => readonly Task[],
): () => Generator<Task> {
  const made = new Map<string, { readonly state: string; readonly tasks: readonly Task[] }>();
  return function* () {
    for (const serial of made.keys()) if (index.find(serial) === undefined) made.delete(serial);
    for (const appliance of index.polled) {
      const { serial, name, build, edgeId } = appliance;
      const state = JSON.stringify([name, build, edgeId]);
      const before = made.get(serial);
      const tasks = before?.state === state ? before.tasks : make(appliance);
      if (tasks !== before?.tasks) made.set(serial, { state, tasks });
      yield* tasks;
    }
  };
}

/** An appliance whose name is unknown has its serial as its name. */
function ownName({ serial, name }: Appliance): string | undefined {
  return name === serial ? undefined : name;
}

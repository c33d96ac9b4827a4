import type { FilerAlias } from '../config/formats.ts';
import { UUID } from '../config/formats.ts';
import { getOrCreate } from '../runtime/maps.ts';

/**
 * The names of filers, the same for both services. File acceleration identifies a filer by `filer_guid` and a title,
 * the portal by `serial` and a name. Two records are one filer if guid and serial are equal, in any case, or if
 * FILER_ALIASES says so. Its name is the one from FILER_ALIASES, else the one in the portal's inventory, which is
 * stable as long as the appliance exists, else the title, which arrives only with records.
 *
 * A name is unique: if one service gives several filers the same name, each gets a short id behind it.
 */

/** A filer in FILER_ALIASES. */
interface Filer {
  /** The filer's ids, sorted; the first one identifies the filer. */
  readonly ids: readonly string[];
  readonly name: string | undefined;
}

type Names = ReadonlyMap<string, string>;

/** Undefined for a filer to which the service gives no name: FILER_ALIASES may name it. */
type MaybeNamed = ReadonlyMap<string, string | undefined>;

type OnShared = (name: string, ids: readonly string[]) => void;

export class FilerNames {
  /**
   * False from the start of a service that has an inventory until it has been polled once, successfully or not, because a
   * name that is still missing may take long.
   */
  isInventoryRead = true;
  readonly #aliased: ReadonlyMap<string, Filer>;
  readonly #onShared: OnShared;
  /** The names that several filers have and that were reported, until the filers differ again. */
  #reportedShared: ReadonlySet<string> = new Set();
  #inventory: MaybeNamed = new Map();
  #missing: ReadonlySet<string> = new Set();
  #titles: MaybeNamed = new Map();
  #names: Names = new Map();

  constructor(aliases: readonly FilerAlias[], onShared: OnShared = () => {}) {
    this.#aliased = filersOf(aliases);
    this.#onShared = onShared;
  }

  /**
   * Replaces the names of the inventory, by serial in lower case. `missing`: those that the latest lists lack. What is
   * listed has its name first: an appliance that replaces another has the plain name.
   */
  setInventory(names: MaybeNamed, missing: ReadonlySet<string> = new Set()): void {
    this.#inventory = names;
    this.#missing = new Set([...missing].map((serial) => this.#filerOf(serial)));
    this.#assignNames();
  }

  setTitles(titles: Iterable<readonly [guid: string, title: string | undefined]>): void {
    this.#titles = new Map([...titles].map(([guid, title]) => [guid.toLowerCase(), title] as const));
    this.#assignNames();
  }

  /** The name of a filer of file acceleration. `title`: the title in its records, or its guid. */
  filerName(guid: string, title: string): string {
    return this.#nameOf(guid.toLowerCase()) ?? title;
  }

  /** The name of an appliance of the portal. `inventoryName`: its name in the inventory; undefined without one. */
  applianceName(serial: string, inventoryName: string | undefined): string {
    return this.#nameOf(serial) ?? inventoryName ?? serial;
  }

  #nameOf(id: string): string | undefined {
    return this.#names.get(this.#filerOf(id)) ?? this.#aliased.get(id)?.name;
  }

  #filerOf(id: string): string {
    return this.#aliased.get(id)?.ids[0] ?? id;
  }

  #assignNames(): void {
    const inventory = this.#filersIn(this.#inventory);
    const titled = this.#filersIn(this.#titles);
    // By name: the filers that both services know by one id.
    const joined = new Map([...inventory].filter(([filer]) => titled.has(filer)).map(([filer, name]) => [name, filer]));
    const alone = new Map([...titled].filter(([filer]) => !inventory.has(filer)));
    const taken = new Set([...inventory.values(), ...titled.values()]);
    const shared = new Set<string>();
    const named = this.#unique(inventory, taken, new Map(), shared);
    // A title that equals the name of an appliance means that appliance, unless the appliance is another filer by its
    // id.
    const titles = this.#unique(alone, taken, joined, shared);
    this.#reportedShared = shared;
    this.#names = new Map([...named, ...titles]);
  }

  #filersIn(names: MaybeNamed): Names {
    const filers = new Map<string, string>();
    for (const [id, ownName] of names) {
      const filer = this.#filerOf(id);
      const name = filers.get(filer) ?? this.#aliased.get(id)?.name ?? ownName;
      if (name !== undefined) filers.set(filer, name);
    }
    return filers;
  }

  /**
   * Adds a short id to every name that several filers have, or one of `others`, which are filers by name. No name in
   * `taken` is made again.
   */
  #unique(names: Names, taken: Set<string>, others: Names, shared: Set<string>): Names {
    const filersOfName = new Map<string, string[]>();
    for (const [filer, name] of names) getOrCreate(filersOfName, name, () => []).push(filer);
    const unique = new Map<string, string>();
    for (const [name, filers] of filersOfName) {
      const listed = filers.filter((filer) => !this.#missing.has(filer));
      const [first, ...more] = listed.length > 0 ? listed : filers;
      const other = others.get(name);
      const plain = more.length === 0 && other === undefined ? first : undefined;
      if (plain !== undefined) unique.set(plain, name);
      const renamed = filers.filter((filer) => filer !== plain);
      for (const [filer, longer] of withShortIds(name, renamed, taken)) {
        taken.add(longer);
        unique.set(filer, longer);
      }
      if (plain !== undefined) continue;
      const all = other === undefined ? filers : [other, ...filers];
      if (!this.#reportedShared.has(name) && !shared.has(name)) this.#onShared(name, all);
      shared.add(name);
    }
    return unique;
  }
}

/** A name followed by the beginning of each id, at least four characters and as many as make it differ from all others. */
function withShortIds(name: string, ids: readonly string[], taken: ReadonlySet<string>): Names {
  for (let length = 4; ; length += 1) {
    const longer = new Map(ids.map((id) => [id, `${name} (${id.slice(0, length)})`]));
    const made = new Set(longer.values());
    if (length >= 36 || (made.size === ids.length && ![...made].some((id) => taken.has(id)))) return longer;
  }
}

function filersOf(aliases: readonly FilerAlias[]): ReadonlyMap<string, Filer> {
  const filers = new Map<string, Filer>();
  for (const { id, target } of aliases) {
    const isId = UUID.test(target);
    const joined = (isId ? [id, target] : [id]).map((id) => filers.get(id) ?? { ids: [id], name: undefined });
    const ids = [...new Set(joined.flatMap((filer) => filer.ids))].sort();
    const name = isId ? joined.find((filer) => filer.name !== undefined)?.name : target;
    for (const id of ids) filers.set(id, { ids, name });
  }
  return filers;
}

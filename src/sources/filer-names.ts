import type { FilerAlias } from '../config/config.ts';

/*
 * What filers are called, in both services alike: file acceleration knows a filer by `filer_guid` and a title, the
 * portal by `serial` and a name. The two are one where guid and serial are equal, in any case, or where the operator
 * says so. Then the name of the portal's inventory counts, for an appliance is named there, it is named as long as it
 * exists, and a title comes only with records. A name that the operator gives counts before either.
 *
 * A name is unique: where one service calls several filers alike, a short id stands behind the name of each.
 */

/** All that is known to be one filer. */
interface Filer {
  readonly ids: Set<string>;
  name: string | undefined;
}

/** Names by filer: the least of its ids. */
type Names = ReadonlyMap<string, string>;

/** Several filers that one service calls alike, by their ids. */
type OnShared = (name: string, ids: readonly string[]) => void;

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** What filers are called: fed by the portal's inventory and the titles of file acceleration, read by both. */
export class FilerNames {
  /** Resolves after the first read of the inventory, successful or not; at once where there is no inventory. */
  readonly settled: Promise<void>;
  readonly #aliased: ReadonlyMap<string, Filer>;
  readonly #onShared: OnShared;
  readonly #told = new Set<string>();
  #inventory: ReadonlyMap<string, string> = new Map();
  #titles: ReadonlyMap<string, string> = new Map();
  #byInventory: Names = new Map();
  #byTitle: Names = new Map();
  #isSettled = false;
  #settle: () => void = () => {};

  constructor(aliases: readonly FilerAlias[], hasInventory: boolean, onShared: OnShared = () => {}) {
    this.#aliased = filersOf(aliases);
    this.#onShared = onShared;
    this.settled = new Promise((resolve) => {
      this.#settle = resolve;
    });
    if (!hasInventory) this.settle();
  }

  /** Whether the inventory has been asked for, or there is none. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** Notes that the inventory has been asked for: what it has not told by now may take long. */
  settle(): void {
    this.#isSettled = true;
    this.#settle();
  }

  /** Takes the names of the whole inventory, by serial in lower case; those of the last one are forgotten. */
  takeInventory(names: ReadonlyMap<string, string>): void {
    this.#inventory = names;
    this.#name();
  }

  /**
   * Takes the titles of every filer that file acceleration knows, by guid; those before are forgotten. An empty one is
   * none: it names nothing.
   */
  takeTitles(titles: Iterable<readonly [guid: string, title: string]>): void {
    const told = [...titles].filter(([, title]) => title !== '');
    this.#titles = new Map(told.map(([guid, title]) => [guid.toLowerCase(), title]));
    this.#name();
  }

  /** What a filer of file acceleration is called; `title` is what its records say, or its guid. */
  ofFiler(guid: string, title: string): string {
    const id = guid.toLowerCase();
    const filer = this.#filerOf(id);
    return this.#byInventory.get(filer) ?? this.#byTitle.get(filer) ?? this.#aliased.get(id)?.name ?? title;
  }

  /** What an appliance of the portal is called; `told` is what its inventory says, undefined where it has no name. */
  ofAppliance(serial: string, told: string | undefined): string {
    const filer = this.#filerOf(serial);
    const inInventory = this.#byInventory.get(filer) ?? this.#aliased.get(serial)?.name ?? told;
    return inInventory ?? this.#byTitle.get(filer) ?? serial;
  }

  /** The least of a filer's ids: the same one whichever of them is asked with. */
  #filerOf(id: string): string {
    const filer = this.#aliased.get(id);
    return filer === undefined ? id : [...filer.ids].reduce((least, one) => (one < least ? one : least));
  }

  #name(): void {
    const inventory = this.#filersIn(this.#inventory);
    const titled = this.#filersIn(this.#titles);
    const isKnownToBoth = new Set([...inventory].filter(([filer]) => titled.has(filer)).map(([, name]) => name));
    const alone = new Map([...titled].filter(([filer]) => !inventory.has(filer)));
    this.#byInventory = this.#unique(inventory, () => false);
    // A title that is the name of an appliance means that appliance, unless that one is another filer by its id.
    this.#byTitle = this.#unique(alone, (title) => isKnownToBoth.has(title));
  }

  #filersIn(names: ReadonlyMap<string, string>): Names {
    const filers = new Map<string, string>();
    for (const [id, name] of names) {
      const filer = this.#filerOf(id);
      filers.set(filer, filers.get(filer) ?? this.#aliased.get(id)?.name ?? name);
    }
    return filers;
  }

  /** Puts a short id behind every name that several filers have, and behind those that are taken. */
  #unique(names: Names, isTaken: (name: string) => boolean): Names {
    const filersOfName = new Map<string, string[]>();
    for (const [filer, name] of names) {
      const filers = filersOfName.get(name) ?? [];
      filers.push(filer);
      filersOfName.set(name, filers);
    }
    const unique = new Map<string, string>();
    for (const [name, filers] of filersOfName) {
      const isShared = filers.length > 1 || isTaken(name);
      const length = shortLength(filers);
      for (const filer of filers) unique.set(filer, isShared ? `${name} (${filer.slice(0, length)})` : name);
      if (!isShared || this.#told.has(name)) continue;
      this.#told.add(name);
      this.#onShared(name, filers);
    }
    return unique;
  }
}

/** How many characters of these ids tell them apart: four, or as many as it takes. */
function shortLength(ids: readonly string[]): number {
  let length = 4;
  while (length < 36 && new Set(ids.map((id) => id.slice(0, length))).size < ids.length) length += 1;
  return length;
}

/** The filers that aliases speak of, each under every id that it has. */
function filersOf(aliases: readonly FilerAlias[]): ReadonlyMap<string, Filer> {
  const filers = new Map<string, Filer>();
  for (const { id, is } of aliases) {
    const filer = filers.get(id) ?? { ids: new Set([id]), name: undefined };
    filers.set(id, filer);
    if (!UUID.test(is)) {
      filer.name = is;
      continue;
    }
    const other = filers.get(is);
    filer.ids.add(is);
    for (const one of other?.ids ?? []) filer.ids.add(one);
    filer.name ??= other?.name;
    for (const one of filer.ids) filers.set(one, filer);
  }
  return filers;
}

/*
 * What filers are called, in both services alike: file acceleration knows a filer by `filer_guid` and a title, the
 * portal by `serial` and a name. The two are one where guid and serial are equal, in any case, or where the operator
 * says so. Then the name of the portal's inventory counts, for an appliance is named there, it is named as long as it
 * exists, and a title comes only with records. A name that the operator gives counts before either.
 */

/** The operator says that a filer, by guid or serial, is another one by serial or guid, or what it is called. */
export interface FilerAlias {
  /** A uuid in lower case. */
  readonly id: string;
  /** A uuid in lower case, or else a name. */
  readonly is: string;
}

/** All that is known to be one filer. */
interface Filer {
  readonly ids: Set<string>;
  name: string | undefined;
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** What filers are called: fed by the portal's inventory and the titles of file acceleration, read by both. */
export class FilerNames {
  /** Resolves when the inventory has been asked for once, whatever came of it; at once where there is none to ask. */
  readonly settled: Promise<void>;
  readonly #aliased: ReadonlyMap<string, Filer>;
  #inventory: ReadonlyMap<string, string> = new Map();
  #titles: ReadonlyMap<string, string> = new Map();
  #isSettled = false;
  #settle: () => void = () => {};

  constructor(aliases: readonly FilerAlias[], hasInventory: boolean) {
    this.#aliased = filersOf(aliases);
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
  }

  /**
   * Takes the titles of every filer that file acceleration knows, by guid; those before are forgotten. An empty one is
   * none: it names nothing.
   */
  takeTitles(titles: Iterable<readonly [guid: string, title: string]>): void {
    const told = [...titles].filter(([, title]) => title !== '');
    this.#titles = new Map(told.map(([guid, title]) => [guid.toLowerCase(), title]));
  }

  /** What a filer of file acceleration is called; `title` is what its records say, or its guid. */
  ofFiler(guid: string, title: string): string {
    const id = guid.toLowerCase();
    return this.#nameOf(id, this.#inventory) ?? title;
  }

  /** What an appliance of the portal is called; `told` is what its inventory says, undefined where it has no name. */
  ofAppliance(serial: string, told: string | undefined): string {
    return this.#aliased.get(serial)?.name ?? told ?? this.#nameOf(serial, this.#titles) ?? serial;
  }

  #nameOf(id: string, names: ReadonlyMap<string, string>): string | undefined {
    const filer = this.#aliased.get(id);
    if (filer === undefined) return names.get(id);
    if (filer.name !== undefined) return filer.name;
    for (const one of filer.ids) {
      const name = names.get(one);
      if (name !== undefined) return name;
    }
    return undefined;
  }
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

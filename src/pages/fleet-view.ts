import type { ApplianceReport } from '../status/model.ts';

/**
 * What a tile selects: appliances in a state, the worst state first, or with another property that readers search for.
 * `phrase` follows "No appliance".
 */
export const KINDS = {
  down: { label: 'Down', phrase: 'is down' },
  no_records: { label: 'No records', phrase: 'is without records' },
  unknown: { label: 'Unknown', phrase: 'is unknown' },
  waiting: { label: 'Waiting', phrase: 'waits for its first poll' },
  up: { label: 'Up', phrase: 'is up' },
  error: { label: 'With errors', phrase: 'has an error' },
  rejected: { label: 'Rejected series', phrase: 'has a series that is forbidden, not found or not supported' },
} as const;

export type Kind = keyof typeof KINDS;

/** The columns of the fleet, in their order. */
export const COLUMNS = {
  name: 'Appliance',
  state: 'State',
  serial: 'Serial',
  build: 'Build',
  poll: 'Last poll',
  record: 'Last record',
  series: 'Series',
  error: 'Last error',
} as const;

export type Column = keyof typeof COLUMNS;

/** What a reader has chosen. The query of the address contains it, so it survives a reload and can be bookmarked. */
export interface FleetView {
  readonly show: Kind | undefined;
  /** A row must contain each of its words. */
  readonly filter: string;
  readonly sort: Column;
  readonly isDescending: boolean;
  /** The first page is 1. */
  readonly page: number;
}

export const DEFAULT_VIEW: FleetView = { show: undefined, filter: '', sort: 'state', isDescending: false, page: 1 };

/** A longer filter is cut: each of its words is looked for in each row. */
const FILTER_LENGTH = 100;

/** Returns the view that a query describes; an invalid part has its default. */
export function viewOf(query: string): FleetView {
  const fields = new URLSearchParams(query);
  const [show, sort, page] = ['show', 'sort', 'page'].map((name) => fields.get(name) ?? '');
  return {
    show: isKey(KINDS, show) ? show : undefined,
    filter: (fields.get('filter') ?? '').trim().slice(0, FILTER_LENGTH),
    sort: isKey(COLUMNS, sort) ? sort : DEFAULT_VIEW.sort,
    isDescending: fields.get('order') === 'descending',
    page: Math.max(1, Math.floor(Number(page)) || 1),
  };
}

function isKey<Names extends object>(names: Names, name: string | undefined): name is keyof Names & string {
  return name !== undefined && Object.hasOwn(names, name);
}

/** The fields of the query that differ from the default view. */
export function queryFields({ show, filter, sort, isDescending, page }: FleetView): Readonly<Record<string, string>> {
  const all: Readonly<Record<string, string | undefined>> = {
    show,
    filter: filter || undefined,
    sort: sort === DEFAULT_VIEW.sort ? undefined : sort,
    order: isDescending ? 'descending' : undefined,
    page: page === 1 ? undefined : String(page),
  };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** The address of a view, relative to the page. */
export function addressOf(view: FleetView): string {
  return `?${new URLSearchParams(queryFields(view))}`;
}

/**
 * Returns the suspended series that should have data. A series without records is normal: no appliance has every disk.
 */
export function rejectedSeries({ suspended }: ApplianceReport): ApplianceReport['suspended'] {
  return suspended.filter(({ reason }) => reason !== 'empty');
}

/** The kinds of an appliance: its state first. */
function kindsOf(appliance: ApplianceReport): readonly Kind[] {
  const kinds: Kind[] = [appliance.state];
  if (appliance.lastError !== null) kinds.push('error');
  if (rejectedSeries(appliance).length > 0) kinds.push('rejected');
  return kinds;
}

export interface SelectedFleet {
  /** Appliances of the whole fleet, by kind. */
  readonly counts: Readonly<Record<Kind, number>>;
  /** The appliances of the view, in its order. */
  readonly appliances: readonly ApplianceReport[];
}

const APPLIANCES_PER_STEP = 100;

/** Yields where it may be interrupted, and returns the part of a fleet that a view shows, sorted by name. */
export function* selectFleet(fleet: readonly ApplianceReport[], view: FleetView): Generator<void, SelectedFleet> {
  const counts = { down: 0, no_records: 0, unknown: 0, waiting: 0, up: 0, error: 0, rejected: 0 };
  const words = view.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const selected: { readonly appliance: ApplianceReport; readonly key: string | number }[] = [];
  for (const [index, appliance] of fleet.entries()) {
    const kinds = kindsOf(appliance);
    for (const kind of kinds) counts[kind] += 1;
    if ((view.show === undefined || kinds.includes(view.show)) && contains(appliance, words)) {
      selected.push({ appliance, key: view.sort === 'name' ? index : sortKey(appliance, view.sort) });
    }
    if (index % APPLIANCES_PER_STEP === APPLIANCES_PER_STEP - 1) yield;
  }
  const sign = view.isDescending ? -1 : 1;
  selected.sort((one, other) => {
    const unknown = Number(one.key === '') - Number(other.key === '');
    return unknown || sign * (one.key < other.key ? -1 : Number(one.key > other.key));
  });
  return { counts, appliances: selected.map(({ appliance }) => appliance) };
}

function contains(appliance: ApplianceReport, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { name, serial, build, availableBuild, suspended, lastError } = appliance;
  const operations = suspended.map(({ operation }) => operation);
  const text = [name, serial, build, availableBuild, ...operations, lastError?.operation, lastError?.message]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

const STATE_ORDER: readonly string[] = Object.keys(KINDS);

/** An empty text is an unknown value, which is last in both directions. */
function sortKey(appliance: ApplianceReport, column: Exclude<Column, 'name'>): string | number {
  switch (column) {
    case 'state':
      return STATE_ORDER.indexOf(appliance.state);
    case 'serial':
      return appliance.serial;
    case 'build':
      return (appliance.build ?? '').replaceAll(/\d+/g, (digits) => digits.padStart(8, '0'));
    case 'poll':
      return appliance.lastPoll ?? '';
    case 'record':
      return appliance.lastRecord ?? '';
    case 'series':
      return rejectedSeries(appliance).length;
    case 'error':
      return appliance.lastError?.message ?? '';
  }
}

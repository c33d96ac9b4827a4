import { DropCounter, type PollResult } from '../../contract/poll-result.ts';
import type { Task } from '../../contract/task.ts';
import { type Family, fieldNames, type JsonObject, type Labels, type Table } from '../../metrics/family.ts';
import { LabelledCounter } from '../../metrics/labelled-counter.ts';
import { labelValue, type ReportDrop, type Sample, toSamples } from '../../metrics/samples.ts';
import { nextTurn } from '../../runtime/clock.ts';
import type { PortalContext, TaskSettings } from './context.ts';
import { EventCounter, type EventDefinition } from './event-counter.ts';
import { readPages, tooLong } from './paging.ts';
import { recordsOf, requireObject } from './records.ts';

/** An operation of the account, and what becomes of its response. One function, {@link readTask}, polls all of them. */
export interface AccountRead {
  /** It determines the label `operation` and the task's id: `/account/license` becomes `account_license`. */
  readonly path: string;
  /** The families of a response that is one object, or of the object in its field `part`. All other fields here are of lists. */
  readonly object?: {
    readonly families: readonly Family[];
    readonly part?: string;
    readonly onResponse?: (response: JsonObject, context: PortalContext) => void;
  };
  /** Set if the list comes in pages, with the query of the first. Because there can be many, the task has no priority. */
  readonly paged?: {
    readonly query?: Readonly<Record<string, string>>;
    /** The parameter with the time at which `events` begin; the list must be sorted by their time. */
    readonly since?: string;
  };
  /** Returns the record with the fields that the families read, if the service spells or nests them in another way. */
  readonly prepare?: (record: JsonObject, context: PortalContext) => JsonObject;
  /** The fields that identify a record. A record without the first is reported; one that is listed twice counts once. */
  readonly key?: readonly string[];
  /** The labels of every sample of `sum`, `min` and `max`. */
  readonly labels?: Labels;
  /** Families that add up their field over all records, by their labels; with `recordOne` they count the records. */
  readonly sum?: readonly Family[];
  /** Families with the smallest, or the greatest, value of all records, by their labels. */
  readonly min?: readonly Family[];
  readonly max?: readonly Family[];
  /** Counts each record as an event. */
  readonly events?: EventDefinition;
  /** The samples of each record, or of what it contains. */
  readonly perObject?: readonly ObjectFamilies[];
}

/** The families of each object of a list, or of each object that the records contain. */
export interface ObjectFamilies {
  readonly families: readonly Family[];
  readonly labels: readonly string[];
  /** The field of a record that contains the objects; missing if the record itself is the object. */
  readonly path?: string;
  /** Returns each object with its labels. */
  readonly of: (
    records: readonly JsonObject[],
    context: PortalContext,
    reportDrop: ReportDrop,
  ) => Iterable<readonly [labels: Labels, object: JsonObject]>;
}

/** The records of a list with the labels of their id and name; the id, in lower case, stands for a missing name. */
export function* byId(
  records: readonly JsonObject[],
  [idLabel, nameLabel]: readonly [string, string],
  fields: { readonly id: string; readonly name: string },
  nameOf: (id: string) => string | undefined = () => undefined,
): Generator<readonly [Labels, JsonObject]> {
  for (const record of records) {
    const id = labelValue(record[fields.id]).toLowerCase();
    const name = nameOf(id) ?? (labelValue(record[fields.name]) || id);
    yield [{ [idLabel]: id, [nameLabel]: name }, record];
  }
}

/** The tables of a read, for HELP and the reference. */
export function tablesOfRead({
  path,
  object,
  labels = {},
  events,
  perObject = [],
  ...read
}: AccountRead): readonly Table[] {
  const source = `GET ${path}`;
  const ofList = [...(read.sum ?? []), ...(read.min ?? []), ...(read.max ?? [])];
  const tables: readonly Table[] = [
    { source, commonLabels: [], families: object?.families ?? [] },
    { source, commonLabels: Object.keys(labels), families: ofList },
    { source, commonLabels: [], families: [...(events?.counts ?? []), ...(events?.latest ?? [])] },
    ...perObject.map(({ families, labels: commonLabels, path: within }) => {
      return { source: within === undefined ? source : `${source}, ${within}`, commonLabels, families };
    }),
  ];
  return tables.filter(({ families }) => families.length > 0);
}

/** A task without an appliance. It is suspended while the role or the licence does not permit the operation. */
export function accountTask(
  { options }: PortalContext,
  settings: TaskSettings,
  operation: string,
  poll: (reportDrop: ReportDrop, signal: AbortSignal) => Promise<Pick<PollResult, 'samples' | 'respondedAt'>>,
): Task {
  return {
    id: `portal/${operation}`,
    api: 'portal',
    operation,
    ...settings,
    suspendedIntervalMs: Math.max(settings.intervalMs, options.discoveryIntervalMs),
    retriesBeforeSlot: true,
    async poll(signal) {
      const drops = new DropCounter();
      return { ...(await poll(drops.reportDrop, signal)), drops: drops.counts, empty: false };
    },
  };
}

export function readTask(context: PortalContext, settings: TaskSettings, read: AccountRead): Task {
  const { client, clock } = context;
  const { path, object, paged } = read;
  const requestName = `GET ${path}`;
  const operation = path.slice(1).replaceAll(/[/-]/g, '_');
  const events = read.events && new EventCounter(read.events, client.serviceClock);
  const request = {
    method: 'GET',
    path,
    operation,
    priority: paged === undefined,
    read: (body: unknown) => requireObject(body, requestName),
  } as const;
  const task = accountTask(context, settings, operation, async (reportDrop, signal) => {
    if (object !== undefined) {
      const body = await client.send(request, signal);
      object.onResponse?.(body, context);
      const { families, part } = object;
      const record = part === undefined ? body : requireObject(body[part], `${requestName}: ${part}`);
      return { samples: toSamples(families, [record], {}, reportDrop) };
    }
    let respondedAt: number | undefined;
    const list = createListReader(read, events, context, reportDrop);
    const start = events && paged?.since ? { [paged.since]: new Date(events.startOfQuery * 1000).toISOString() } : {};
    const firstQuery = paged && { ...paged.query, ...start };
    const isWhole = await readPages(client, request, firstQuery, signal, (page) => {
      respondedAt ??= clock.monotonic();
      const records = recordsOf(page, requestName, reportDrop);
      list.add(records);
      events?.continueAtNewest();
      return records.length;
    });
    if (isWhole) events?.end();
    else if (paged?.since === undefined) throw tooLong(path);
    return { samples: await list.samples(), respondedAt };
  });
  return paged === undefined ? { ...task, priority: true } : task;
}

/** So many objects are read between two pauses: an account can have ten thousand, with ten samples each. */
const OBJECTS_PER_TURN = 500;

/** Reads the records of one poll: `add` takes each page, and `samples` is called after the last one. */
function createListReader(
  { prepare, key, labels = {}, sum, min, max, perObject = [] }: AccountRead,
  events: EventCounter | undefined,
  context: PortalContext,
  reportDrop: ReportDrop,
) {
  const combined = (families: readonly Family[] = [], combine?: typeof Math.min) =>
    families.map((family) => ({ family, counter: new LabelledCounter(family, combine) }));
  const counters = [...combined(sum), ...combined(min, Math.min), ...combined(max, Math.max)];
  const isNew = createDuplicateFilter(key, reportDrop);
  const kept: JsonObject[] = [];
  events?.begin();

  function add(records: readonly JsonObject[]): void {
    for (const received of records) {
      if (!isNew(received)) continue;
      const record = prepare?.(received, context) ?? received;
      for (const { family, counter } of counters) {
        const [field = ''] = fieldNames(family);
        const raw = record[field];
        const value = family.from.read(raw, record);
        if (value !== undefined) counter.add(record, value, reportDrop);
        else if (raw !== undefined && raw !== null) reportDrop('invalid', field);
      }
      events?.add(record, reportDrop);
      if (perObject.length > 0) kept.push(record);
    }
  }

  async function samples(): Promise<readonly Sample[]> {
    const made = [...counters.flatMap(({ counter }) => counter.samples(labels)), ...(events?.samples() ?? [])];
    let read = 0;
    for (const { families, of } of perObject) {
      for (const [own, object] of of(kept, context, reportDrop)) {
        made.push(...toSamples(families, [object], own, reportDrop));
        read += 1;
        if (read % OBJECTS_PER_TURN === 0) await nextTurn();
      }
    }
    return made;
  }

  return { add, samples };
}

/** Returns a function that reports a record without its key, and one that was listed before; without a key every record is new. */
function createDuplicateFilter(key: AccountRead['key'], reportDrop: ReportDrop): (record: JsonObject) => boolean {
  if (key === undefined) return () => true;
  const [first = ''] = key;
  const known = new Set<string>();
  return (record) => {
    const id = JSON.stringify(key.map((field) => labelValue(record[field])));
    const hasKey = labelValue(record[first]) !== '';
    if (!hasKey || known.has(id)) reportDrop(hasKey ? 'duplicate' : 'record', first);
    const isNew = hasKey && !known.has(id);
    known.add(id);
    return isNew;
  };
}

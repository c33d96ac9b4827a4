import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Front, Seen, Spoil } from '../support/front.ts';
import type { LogLine } from '../support/program.ts';
import type { Scrape, Wanted } from '../support/scrape.ts';
import type { Effect } from './effects.ts';
import { APPLIANCES, type Instance, SERIES } from './instance.ts';

/** What is spoiled. */
export const OPERATIONS = ['token', 'refresh', 'serials', 'edges', 'data', 'series'] as const;

/** One of {@link OPERATIONS}. */
export type OperationName = (typeof OPERATIONS)[number];

/** What the log says of a change of state, and of the change back. */
export type Lines = readonly [bad: string, good: string];

/** The words of the log. */
export const LINES = {
  api: ['the API cannot be polled', 'the API answers again'],
  task: ['the task cannot be polled', 'the task can be polled again'],
  appliance: ['the appliance does not answer', 'the appliance answers'],
  refused: [
    'the API refuses this operation: doing without it, and asking slowly',
    'the API gives this operation again',
  ],
  edges: ['GET /edges fails: names and builds stay as it last said', 'GET /edges can be read again'],
  list: ['the portal forbids this list: doing without it', 'the portal allows this list again'],
} as const satisfies Record<string, Lines>;

/** What a row expects. */
export interface Expected {
  /** The label `code` of `filer_exporter_requests_total` that counts it. */
  readonly code: string;
  /** What else counts it: dropped values by reason, or tasks that rest by reason. */
  readonly dropped?: string;
  readonly resting?: string;
  /** The lines of the log, and no others; none when no state changes. */
  readonly lines: Lines | undefined;
  /** Further lines that may come: when a whole service is away, what hung on it may say so first. */
  readonly mayAlsoSay?: readonly Lines[];
  /** Who keeps its pace meanwhile: the other service always, and what of the same one is not touched. */
  readonly neighbours: 'all' | 'the other service';
  /** Back within so many seconds of the fault's end. */
  readonly withinSeconds: number;
}

/** One row of the battery. */
export interface Row {
  readonly operation: OperationName;
  readonly fault: string;
  readonly expected: Expected;
  /** How many requests it spoils; all until it is lifted when undefined. */
  readonly times?: number;
  /** What is done to the request, and how it is undone. */
  readonly spoil: (instance: Instance) => Spoil;
  readonly lift?: (instance: Instance) => unknown;
}

/** Time that a busy machine may take on top, in milliseconds. */
const SLACK_MS = 2_500;

/** How long a fault may take to show, in milliseconds. */
const LONGEST_ONSET_MS = 20_000;

const PAUSE_MS = 150;

/** Runs a row on an instance that is well before it, and well behind it. */
export async function play(row: Row, instance: Instance): Promise<void> {
  const { operation, expected, times = Number.POSITIVE_INFINITY } = row;
  await seen('the instance to be well', () => isWell(instance), LONGEST_ONSET_MS);
  const before = await instance.scrape();
  const from = instance.program.log.length;
  const front = operation === 'data' ? instance.gfa : instance.portal;
  const serial = [...instance.standIn.fleet.appliances][0]?.serial;
  const begunAt = performance.now();
  let hits = 0;
  const spoil = row.spoil(instance);
  const isMeant = (asked: Asked) => hits < times && isOf(asked, operation, serial);
  const undo = front.spoil(isMeant, (exchange) => {
    hits += 1;
    return spoil(exchange, front);
  });
  const unprovoke = operation === 'token' ? provoke(front, () => hits > 0) : () => {};
  try {
    await seen(`${row.fault} to show`, async () => hits > 0 && shows(row, instance, before, from), LONGEST_ONSET_MS);
  } finally {
    undo();
    unprovoke();
    await row.lift?.(instance);
  }
  const liftedAt = performance.now();
  const within = expected.withinSeconds * 1000;
  await seen('it to be over', () => isOver(row, instance, from), within + SLACK_MS);
  const endedAt = performance.now();
  expect(instance.program.child.exitCode, 'the process lives').toBeNull();
  expectLines(operation, instance.program.log.slice(from), expected);
  expectPace(row, instance, { from: begunAt, to: endedAt, serial });
  // Forgotten here, so that lists do not grow with the rows.
  for (const { seen: list } of [instance.gfa, instance.portal]) list.length = 0;
  expect(endedAt - liftedAt).toBeLessThan(within + SLACK_MS);
}

/** A row for what lasts longer than a test: nothing is sent to the one service, and the other keeps its pace. */
export async function holdsOn(operation: OperationName, effect: Effect, instance: Instance): Promise<void> {
  await seen('the instance to be well', () => isWell(instance), LONGEST_ONSET_MS);
  const [front, other] = operation === 'data' ? [instance.gfa, instance.portal] : [instance.portal, instance.gfa];
  const { serial } = instance.standIn.fleet.appliances[0] ?? {};
  const api = apiOf(operation);
  const refused = async () =>
    (await instance.scrape()).sum('filer_exporter_requests_total', { api, code: effect.code });
  const before = await refused();
  let hits = 0;
  const isMeant = (asked: Asked) => hits === 0 && isOf(asked, operation, serial);
  front.spoil(isMeant, (exchange) => {
    hits += 1;
    return effect.spoil(exchange, front);
  });
  const unprovoke = operation === 'token' ? provoke(front, () => hits > 0) : () => {};
  await seen(
    'the hold',
    async () => {
      const now = await instance.scrape();
      return hits > 0 && now.value('filer_exporter_pace_requests_per_second', { api }) === 0;
    },
    LONGEST_ONSET_MS,
  );
  unprovoke();
  expect(await refused()).toBe(before + 1);
  // What had left before the refusal came back may still arrive.
  await sleep(500);
  const [sent, answered] = [front.seen.length, other.seen.length];
  await sleep(3_000);
  expect(front.seen.length).toBe(sent);
  expect(other.seen.length).toBeGreaterThan(answered);
  expect(instance.program.child.exitCode, 'the process lives').toBeNull();
}

/** Every 401 makes the exporter get a new token with its credentials. */
function provoke(front: Front, isDone: () => boolean): () => void {
  return front.spoil(
    ({ operation }) => !isDone() && operation !== 'token' && operation !== 'refresh',
    ({ response }) => response.writeHead(401, { 'content-type': 'application/json' }).end('{}'),
  );
}

type Asked = Pick<Seen, 'operation' | 'serial'>;

/** Of series, one of one appliance is meant. */
function isOf(asked: Asked, operation: OperationName, serial: string | undefined): boolean {
  if (operation !== 'series') return asked.operation === operation;
  return asked.operation === SERIES[0] && asked.serial === serial;
}

async function shows(row: Row, instance: Instance, before: Scrape, from: number): Promise<boolean> {
  const { operation, expected } = row;
  const [bad] = expected.lines ?? [];
  // Looked at first: a scrape that is read strictly is work, and so many at once would be felt.
  if (bad !== undefined && !linesOf(operation, instance.program.log.slice(from)).includes(bad)) return false;
  const now = await instance.scrape();
  const api = apiOf(operation);
  const grew = (name: string, labels: Wanted) => now.sum(name, labels) > before.sum(name, labels);
  const { code, dropped, resting } = expected;
  return (
    grew('filer_exporter_requests_total', { api, operation: labelOf(operation), code }) &&
    (dropped === undefined || grew('filer_exporter_samples_dropped_total', { api, reason: dropped })) &&
    (resting === undefined || now.sum('filer_exporter_tasks_resting', { api, reason: resting }) > 0)
  );
}

async function isOver({ operation, expected }: Row, instance: Instance, from: number): Promise<boolean> {
  const lines = linesOf(operation, instance.program.log.slice(from));
  if (expected.lines !== undefined && !lines.includes(expected.lines[1])) return false;
  // What else was said is taken back too.
  for (const [bad, good] of expected.mayAlsoSay ?? []) {
    if (lines.filter((line) => line === bad).length !== lines.filter((line) => line === good).length) return false;
  }
  return isWell(instance);
}

/** What the log says; of the other service with its name in front, for it is not meant. */
function linesOf(operation: OperationName, log: readonly LogLine[]): readonly string[] {
  return log.map(({ api, msg }) => (api === undefined || api === apiOf(operation) ? msg : `${String(api)}: ${msg}`));
}

async function isWell(instance: Instance): Promise<boolean> {
  const now = await instance.scrape();
  const values = now.all('filer_appliance_cpu_utilization_ratio').length === APPLIANCES;
  const windows = now.all('filer_appliance_load_average').length === 3 * APPLIANCES;
  const resting = now.sum('filer_exporter_tasks_resting') === 0;
  return values && windows && resting && now.sum('filer_up') === 2 && now.sum('filer_appliance_up') === APPLIANCES;
}

function expectLines(operation: OperationName, log: readonly LogLine[], { lines, mayAlsoSay = [] }: Expected): void {
  const further = new Set(mayAlsoSay.flat());
  expect(linesOf(operation, log).filter((line) => !further.has(line))).toEqual(lines ?? []);
  expect(log.filter((line) => JSON.stringify(line).includes('"stack"'))).toEqual([]);
}

/** No neighbour is left without a request for longer than two intervals: slots lie up to one and a half apart. */
function expectPace(
  { operation, expected }: Row,
  instance: Instance,
  { from, to, serial }: { readonly from: number; readonly to: number; readonly serial: string | undefined },
): void {
  const asked = new Map<string, number[]>();
  const note = (key: string, at: number) => asked.set(key, [...(asked.get(key) ?? []), at]);
  if (operation !== 'data') note('data', from);
  for (const { operation: name, at } of instance.gfa.seen) if (operation !== 'data' && name === 'data') note(name, at);
  if (operation === 'data' || expected.neighbours === 'all') {
    const isTouched = (name: string, of: string | undefined) =>
      operation === 'series' && name === SERIES[0] && of === serial;
    for (const { serial: of } of instance.standIn.fleet.appliances) {
      for (const name of SERIES) if (!isTouched(name, of)) note(`${name} of ${of}`, from);
    }
    for (const { operation: name, serial: of, at } of instance.portal.seen) {
      if (of !== undefined && !isTouched(name, of)) note(`${name} of ${of}`, at);
    }
  }
  for (const [name, moments] of asked) {
    const gaps = [...moments, to].toSorted((a, b) => a - b).map((at, index, all) => at - (all[index - 1] ?? at));
    expect(Math.max(...gaps), `the longest time without ${name}`).toBeLessThan(2 * 1_000 + SLACK_MS);
  }
}

function apiOf(operation: OperationName): 'gfa' | 'portal' {
  return operation === 'data' ? 'gfa' : 'portal';
}

function labelOf(operation: OperationName): string {
  if (operation === 'refresh') return 'token';
  return operation === 'series' ? SERIES[0] : operation;
}

async function seen(what: string, look: () => Promise<boolean>, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    if (await look()) return;
    if (performance.now() > deadline) throw new Error(`waited ${withinMs} ms for ${what}`);
    await sleep(PAUSE_MS);
  }
}

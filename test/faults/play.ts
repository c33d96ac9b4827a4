import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Front } from '../support/front.ts';
import { type Course, GRACE_MS, until } from './course.ts';
import type { Effect } from './effects.ts';
import type { Instance, Setup } from './instance.ts';
import type { Lateness } from './lateness.ts';
import { illness, lasting, type Moment, unshown } from './looks.ts';
import { type Asked, apiOf, isOf, LINES, type OperationName, type Row } from './row.ts';
import { expectCodes, expectLines, expectOnlyTheBeginning, expectPace } from './verdicts.ts';

/** How long a fault may take to show, in milliseconds: two polls in a row that each wait for their time-out, and more. */
const MAX_ONSET_MS = 40_000;

/** What shows only later is waited for as long as this behind the first sign, in milliseconds. */
const BEHIND_THE_SIGN_MS = 3_000;

/** Where rows are played. */
export interface Stage {
  readonly setup: Setup;
  readonly instance: Instance;
  readonly lateness: Lateness;
}

/** Plays a row on an instance that is well before it, and well behind it. */
export async function play(row: Row, { setup, instance, lateness }: Stage): Promise<void> {
  const { operation, expected, times = Number.POSITIVE_INFINITY, lastsSeconds } = row;
  await until('the instance to be well', async () => illness(await instance.scrape()), MAX_ONSET_MS, lateness);
  // An API that comes and goes is probed no oftener each time: the back-off of the row before is over after two intervals.
  await sleep(Math.max(0, instance.recoveredAt + 2_000 * setup.portalSeconds - performance.now()));
  const front = operation === 'data' ? instance.gfa : instance.portal;
  const serial = instance.standIn.fleet.appliances[0]?.serial ?? '';
  // Forgotten here, so that lists do not grow with the rows.
  for (const { seen } of [instance.gfa, instance.portal]) seen.length = 0;
  instance.stamps.forget();
  const course: Course = {
    row,
    setup,
    instance,
    lateness,
    front,
    serial,
    before: await instance.scrape(),
    logged: instance.log.length,
    begunAt: performance.now(),
  };
  const moment = (): Moment => ({ at: performance.now(), stamp: instance.stamps.next() });
  const hits: Moment[] = [];
  const spoil = row.spoil(instance);
  const isMeant = (asked: Asked) => hits.length < times && isOf(asked, row, serial);
  const undo = front.spoil(isMeant, (exchange) => {
    hits.push(moment());
    return spoil(exchange, front);
  });
  const unprovoke = operation === 'token' ? provoke(front, () => hits.length > 0) : () => {};
  try {
    await until(`${row.fault} to show`, () => unshown(course, hits), MAX_ONSET_MS, lateness);
    if (lastsSeconds !== undefined) {
      const leftMs = (hits[0]?.at ?? 0) + lastsSeconds * 1_000 - performance.now();
      await sleep(Math.max(BEHIND_THE_SIGN_MS, leftMs));
      expectOnlyTheBeginning(course);
    }
    expectCodes(course, await instance.scrape());
  } finally {
    undo();
    unprovoke();
    await row.lift?.(instance);
  }
  const lifted = moment();
  const withinMs = expected.withinSeconds * 1_000 + GRACE_MS;
  await until('it to be over', () => lasting(course, lifted), withinMs, lateness);
  if (expected.lines === LINES.api) instance.recoveredAt = performance.now();
  expect(instance.program.child.exitCode, 'the process lives').toBeNull();
  expectLines(course);
  expectPace(course, performance.now());
}

/** Plays what lasts longer than a test: nothing is sent to the one service, and the other keeps its pace. */
export async function holdsOn(operation: OperationName, effect: Effect, { instance, lateness }: Stage): Promise<void> {
  await until('the instance to be well', async () => illness(await instance.scrape()), MAX_ONSET_MS, lateness);
  const [front, other] = operation === 'data' ? [instance.gfa, instance.portal] : [instance.portal, instance.gfa];
  const { serial } = instance.standIn.fleet.appliances[0] ?? {};
  const api = apiOf(operation);
  const refused = async () =>
    (await instance.scrape()).sum('filer_exporter_requests_total', { api, code: effect.code });
  const before = await refused();
  let hits = 0;
  front.spoil(
    (asked) => hits === 0 && isOf(asked, { operation }, serial),
    (exchange) => {
      hits += 1;
      return effect.spoil(exchange, front);
    },
  );
  const unprovoke = operation === 'token' ? provoke(front, () => hits > 0) : () => {};
  const held = async () => {
    const now = await instance.scrape();
    const isHeld = hits > 0 && now.value('filer_exporter_pace_requests_per_second', { api }) === 0;
    return isHeld ? undefined : 'requests may be sent';
  };
  await until('the hold', held, MAX_ONSET_MS, lateness);
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
    ({ operation }) => !isDone() && operation !== 'token',
    ({ response }) => response.writeHead(401, { 'content-type': 'application/json' }).end('{}'),
  );
}

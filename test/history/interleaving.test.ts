import { expect, test } from 'vitest';
import { RemoteWrite } from '../../src/history/remote-write.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import type { PostAnswer } from '../../src/transport/post.ts';
import fc from '../support/fast-check.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { going, noLog } from '../support/mock-api.ts';
import { MemoryReceiver } from './memory-receiver.ts';
import { pointsSince } from './points.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 2, 2, 6);
const TASKS = ['a', 'b', 'c'];

/** The value of a minute, the same whenever the service is asked. */
const valueAt = (task: string, minute: number) => (minute * 7 + task.charCodeAt(0)) % 101;

/** The minutes from `since` up to now, of two series. */
function* answer(task: string, since: number, now: number): Generator<Sample> {
  for (let at = Math.ceil(since / MINUTE_MS) * MINUTE_MS; at < now; at += MINUTE_MS) {
    const value = valueAt(task, at / MINUTE_MS);
    for (const direction of ['in', 'out']) {
      yield { name: 'm', labels: { task, direction }, value, at: at / 1000 };
    }
  }
}

const step = fc.record({
  minutes: fc.integer({ min: 1, max: 90 }),
  polled: fc.subarray(TASKS),
  meanwhile: fc.subarray(TASKS),
  trouble: fc.constantFrom(undefined, undefined, 'status', 'network'),
});

test('answers that arrive while others are being sent, and failures, lose and repeat nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const clock = new ManualClock(START);
      const receiver = new MemoryReceiver();
      let meanwhile: readonly string[] = [];
      const send: typeof receiver.send = async (...request) => {
        for (const task of meanwhile) await poll(task);
        meanwhile = [];
        return receiver.send(...request);
      };
      const settings = {
        labels: {},
        catchUpMs: 30 * 86_400_000,
        isExposedToo: false,
        sweepMs: 1,
        lookbackMs: 900_000,
        binMs: MINUTE_MS,
      };
      const remote = new RemoteWrite(settings, send, { clock, random: seededRandom(1), log: noLog });
      const poll = async (task: string) => {
        const since = remote.wantedSince(task, clock.now()) ?? clock.now() - 900_000;
        const points = pointsSince(since, clock.now(), answer(task, since, clock.now()));
        await remote.accept({ id: task, api: 'portal' }, { samples: [], points, drops: new Map(), empty: false });
      };
      for (const task of TASKS) await poll(task);
      await remote.flush(going);
      for (const { minutes, polled, meanwhile: inFlight, trouble } of steps) {
        await clock.advance(minutes * MINUTE_MS);
        for (const task of polled) await poll(task);
        meanwhile = inFlight;
        receiver.answer = trouble && (() => (trouble === 'network' ? new Error('reset') : refused));
        await remote.flush(going);
      }
      receiver.answer = undefined;
      for (let round = 0; round < 3; round += 1) {
        await clock.advance(MINUTE_MS);
        for (const task of TASKS) await poll(task);
        await remote.flush(going);
      }
      const status = remote.status();
      expect([...status.dropped.values()].reduce((sum, count) => sum + count)).toBe(0);
      expect(status.waiting).toBe(0);
      expect(receiver.points.size).toBe(2 * TASKS.length);
      for (const [series, points] of receiver.points) {
        const [, task = ''] = /task=(\w)/.exec(series) ?? [];
        const expected = [...answer(task, START - 900_000 + MINUTE_MS, clock.now() - MINUTE_MS)].filter(
          ({ labels }) => labels.direction === 'in',
        );
        expect([...points]).toEqual(expected.map(({ at = 0, value }) => [at * 1000, value]));
      }
      expect(status.sent).toBe([...receiver.points.values()].reduce((sum, { size }) => sum + size, 0));
    }),
    { numRuns: 120 },
  );
});

const refused: PostAnswer = { status: 503, headers: {}, text: 'later' };

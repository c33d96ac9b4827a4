import { seededRandom } from '../../src/runtime/random.ts';
import { MemoryReceiver } from './memory-receiver.ts';
import { MINUTE_MS, Play } from './play.ts';
import { expectTold, ONE_SERIES } from './told.ts';

const START = Date.UTC(2026, 2, 2, 6);
const HOUR_MS = 60 * MINUTE_MS;

/**
 * Half a day of outages of each side, wrong clocks, bins, refused periods, restarts and appliances that join, drawn from a
 * seed, and then two hours in which all is well. Rejects where a bin is neither delivered nor told as lost.
 */
export async function drawnHistory(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const oneOf = <Value>(...values: readonly Value[]) => values[Math.floor(random() * values.length)] as Value;
  const bin = oneOf(1, 1, 1, 5, 15);
  const receiver = new MemoryReceiver();
  const play = await Play.begin({
    appliances: 2,
    series: ONE_SERIES,
    start: START,
    send: receiver.send,
    binSeconds: 60 * bin,
    aheadMs: oneOf(0, 0, -30, -5, 5, 30) * MINUTE_MS,
    catchUpMs: oneOf(2, 6) * HOUR_MS,
  });
  let neverHeld = 0;
  try {
    const troubles: readonly (() => Promise<void>)[] = [
      () => play.hours(oneOf(0.5, 1, 3), { polls: false, sends: false }).then(() => play.restart()),
      () => play.restart(),
      async () => {
        const later = { status: 503, headers: {}, text: 'later' };
        receiver.answer = () => (random() < 0.5 ? later : new Error('reset'));
        await play.hours(oneOf(0.5, 1, 3));
        receiver.answer = undefined;
      },
      async () => {
        const heal = play.standIn.fail({ kind: 'status', status: oneOf(500, 503, 403) });
        await play.hours(oneOf(0.25, 1, 3));
        heal();
      },
      async () => {
        const [longest, status] = [oneOf(0.5, 1, 2) * HOUR_MS, oneOf(413, 422, 408)];
        play.refuse = ({ startMs, endMs }) => (endMs - startMs > longest ? status : undefined);
      },
      async () => {
        const oldest = play.clock.now() - oneOf(0.5, 1, 2) * HOUR_MS;
        const status = oneOf(422, 500);
        play.refuse = ({ startMs }) => (startMs < oldest ? status : undefined);
      },
      async () => {
        play.standIn.addAppliance();
        neverHeld += Math.ceil((play.clock.now() - START) / MINUTE_MS / bin) + 1;
        await play.hours(0.25);
        await play.discover();
      },
      async () => {
        play.aheadMs = oneOf(0, -20, 20) * MINUTE_MS;
      },
    ];
    await play.hours(1);
    for (let left = 5; left > 0; left -= 1) {
      await oneOf(...troubles)();
      await play.hours(oneOf(0.25, 0.5, 1));
    }
    play.refuse = undefined;
    await play.hours(2);
    await expectTold(play, receiver, START + bin * MINUTE_MS, { binMs: bin * MINUTE_MS, neverHeld });
  } finally {
    await play.close();
  }
}

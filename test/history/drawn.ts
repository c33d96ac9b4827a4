import { seededRandom } from '../../src/demo/seeded-random.ts';
import { Fleet, HOUR_MS, MINUTE_MS } from './fleet.ts';

/**
 * Half a day of trouble of each side, drawn from a seed, and then some hours in which all is well. Rejects where a minute is
 * neither delivered nor reported, or comes twice.
 */
export async function drawnHistory(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const oneOf = <Value>(...values: readonly [Value, ...Value[]]): Value =>
    values[Math.floor(random() * values.length)] ?? values[0];
  const late = oneOf(0, 0, 10, 40) * MINUTE_MS;
  const fleet = new Fleet({
    appliances: 12,
    tasks: oneOf(1, 3),
    samples: oneOf(1, 2),
    receiver: oneOf('takes all', 'alone', 'stock'),
    catchUpMs: oneOf(2, 6) * HOUR_MS,
    intervalMs: oneOf(5, 5, 30) * MINUTE_MS,
    arrives: (appliance, _, ms) => (appliance === 3 ? ms + late : ms),
  });
  const hours = () => fleet.hours(oneOf(0.25, 0.5, 1, 3));
  const receiverSays = async (answer: NonNullable<typeof fleet.receiver.answer>) => {
    fleet.receiver.answer = answer;
    await hours();
    fleet.receiver.answer = undefined;
  };
  const troubles: readonly [() => Promise<void>, ...(() => Promise<void>)[]] = [
    () => fleet.restart({ downMs: oneOf(0, 1, 30, 120) * MINUTE_MS }),
    () => receiverSays(() => new Error('reset')),
    () => receiverSays(() => (random() < 0.5 ? { status: 503, headers: {}, text: '' } : undefined)),
    () => receiverSays(() => (random() < 0.3 ? { status: 429, headers: {}, text: '' } : undefined)),
    () => receiverSays(() => ({ status: 400, headers: {}, text: 'no' })),
    () => receiverSays((series) => (series.length > 4 ? { status: 413, headers: {}, text: '' } : undefined)),
    async () => {
      fleet.portal = () => random() < oneOf(0, 0.5);
      await hours();
      fleet.portal = undefined;
    },
  ];
  await fleet.hours(1);
  for (let left = 5; left > 0; left -= 1) {
    await oneOf(...troubles)();
    await hours();
  }
  await fleet.hours(4);
  const untilMinute = fleet.minute - 2 * (fleet.intervalMs / MINUTE_MS) - 70;
  const { missing, reported, repeated } = fleet.judge({ untilMinute });
  const { waiting } = fleet.remote.status();
  const isReported = reported >= missing && reported <= missing + 100 * fleet.tasks.length;
  if (!isReported || repeated > 0 || waiting > fleet.tasks.length * 40)
    throw new Error(`seed ${seed}: ${JSON.stringify({ missing, reported, repeated, waiting })}`);
}

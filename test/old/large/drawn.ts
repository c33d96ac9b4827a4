import { seededRandom } from '../../src/demo/seeded-random.ts';
import { HOUR, Large, MINUTE } from './large.ts';

/**
 * Half a day of trouble of each side, drawn from a seed, and then some hours in which all is well. Rejects where a minute is
 * neither delivered nor reported, or comes twice.
 */
export async function drawnHistory(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const oneOf = <Value>(...values: readonly [Value, ...Value[]]): Value =>
    values[Math.floor(random() * values.length)] ?? values[0];
  const late = oneOf(0, 0, 10, 40);
  const appliances = 12;
  const large = await Large.begin({
    appliances,
    samples: oneOf(1, 2),
    receiver: oneOf('takes all', 'alone', 'stock'),
    intervalMinutes: oneOf(5, 5, 30),
    variables: { REMOTE_WRITE_CATCH_UP: oneOf('2h', '6h') },
    arrives: (appliance, _, reported) => (appliance === 3 ? reported + late : reported),
  });
  const { fleet, receiver } = large;
  const hours = () => large.passes(oneOf(0.25, 0.5, 1, 3) * HOUR);
  const receiverSays = async (answer: NonNullable<typeof receiver.answer>) => {
    receiver.answer = answer;
    await hours();
    receiver.answer = undefined;
  };
  const saying = (status: number) => ({ status, headers: {}, text: '' });
  const troubles: readonly [() => Promise<void>, ...(() => Promise<void>)[]] = [
    async () => {
      await large.stop();
      await large.clock.advance(oneOf(0, 1, 30, 120) * MINUTE);
      await large.start();
    },
    () => receiverSays(() => new Error('reset')),
    () => receiverSays(() => (random() < 0.5 ? saying(503) : undefined)),
    () => receiverSays(() => (random() < 0.3 ? saying(429) : undefined)),
    () => receiverSays(() => saying(400)),
    () => receiverSays((series) => (series.length > 4 ? saying(413) : undefined)),
    async () => {
      fleet.status = 503;
      fleet.statusEach = oneOf(1, 2);
      await hours();
      fleet.status = undefined;
    },
  ];
  await large.passes(HOUR);
  for (let left = 5; left > 0; left -= 1) {
    await oneOf(...troubles)();
    await hours();
  }
  await large.passes(4 * HOUR);
  await large.expectMinutes({ late: 45, younger: 100 * appliances });
  await large.stop();
}

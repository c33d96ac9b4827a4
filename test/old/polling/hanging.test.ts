// Only here: what hangs and holds workers, for minutes each.
import { expect, test } from 'vitest';
import { fleet, minutes } from './fleet.ts';
import { hanging, Stage } from './running.ts';

const suspendable = { suspendedIntervalMs: minutes(15) };

/** When what is shown of the service changed since, in minutes after `since`. */
function changesOf(stage: Stage, texts: readonly string[]): number[] {
  return stage.lines.all.filter(({ text }) => texts.includes(text)).map(({ at }) => at / minutes(1));
}

test('a service of 60 appliances that hangs is down within 20 minutes, and up one minute after the end', async () => {
  const stage = new Stage(fleet(60, 15, suspendable), 8);
  await stage.run().clock.advance(minutes(20));
  stage.manner = () => hanging;
  await stage.clock.advance(minutes(60));
  stage.manner = () => ({ ms: 200 });
  await stage.clock.advance(minutes(10));
  const [down = 0, ...furtherDown] = changesOf(stage, ['the API cannot be polled']);
  const [up = 0, ...furtherUp] = changesOf(stage, ['the API responds again']);
  expect([furtherDown, furtherUp]).toEqual([[], []]);
  // Three and a half intervals without a response, and half of one for the last series that worked.
  expect(down - 20).toBeLessThan(20);
  expect(up - 80).toBeLessThan(1.5);
});

test('while half of 150 appliances hang, no series of the others waits longer than 20 minutes', async () => {
  const tasks = fleet(150, 15, suspendable);
  const stage = new Stage(tasks, 8);
  const hangs = (serial: string) => Number(serial.slice(1)) % 2 === 0;
  await stage.run().clock.advance(minutes(20));
  stage.manner = ({ appliance }) => (hangs(appliance?.serial ?? '') ? hanging : { ms: 200 });
  await stage.clock.advance(minutes(90));
  const gaps = tasks
    .filter(({ appliance }) => !hangs(appliance?.serial ?? ''))
    .map(({ id }) => {
      const starts = [...stage.startsOf(id, minutes(15)), minutes(110)];
      return Math.max(...starts.slice(1).map((at, index) => at - (starts[index] ?? 0)));
    });
  // Two polls of each of 75 appliances hang for 30 s before the appliance is doubtful. That holds eight workers for 9.4 minutes,
  // and half to one and a half intervals pass between two polls anyway.
  expect(Math.max(...gaps)).toBeLessThan(minutes(20));
  for (let serial = 0; serial < 150; serial += 1) expect(stage.shelf.up(`a${serial}`)).toBe(`a${serial} ${serial % 2}`);
});

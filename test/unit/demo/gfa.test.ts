import { expect, test } from 'vitest';
import { credentials, startServices } from './ask.ts';

const MINUTE = 60_000;

/** The events that a client receives, as texts. */
function eventsOf({ ask }: ReturnType<typeof startServices>, client: string, query = ''): readonly string[] {
  const headers = { authorization: credentials.gfaToken, 'x-service-client-key': client };
  const [{ locks, propagation }] = ask('gfa', { path: `/data${query}`, headers }).json.metrics;
  return [...locks, ...propagation].map((event) => JSON.stringify(event));
}

test('each client key receives each event once, and a new one receives the last hour', async () => {
  const demo = startServices();
  const received = [...eventsOf(demo, 'one')];
  expect(received.length).toBeGreaterThan(300);
  expect(eventsOf(demo, 'one')).toEqual([]);
  for (let minute = 0; minute < 30; minute += 1) {
    await demo.clock.advance(MINUTE);
    received.push(...eventsOf(demo, 'one'));
  }
  demo.services.set({ historyMs: 90 * MINUTE });
  expect(received.toSorted()).toEqual(eventsOf(demo, 'other').toSorted());
});

test('a group that is switched off is empty, and keeps its bookmark', async () => {
  const demo = startServices();
  expect(eventsOf(demo, 'one', '?lock_metrics=false').some((event) => event.includes('"lock"'))).toBe(false);
  expect(eventsOf(demo, 'one').every((event) => event.includes('"lock"'))).toBe(true);
});

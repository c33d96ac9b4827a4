import { expect, test } from 'vitest';
import { App } from '../../../src/app/app.ts';
import type { AppParts } from '../../../src/app/parts.ts';
import { keptLog } from '../../harness/kept-log.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** The program with one service; what happens at its stop, in order. `hangs`: what never ends by itself. */
function program(hangs: readonly string[] = []) {
  const clock = new ManualClock();
  const { log, lines } = keptLog();
  const events: string[] = [];
  const ends = async (name: string, timeout: Promise<void>) => {
    events.push(name);
    if (hangs.includes(name)) await timeout;
  };
  const never = new Promise<void>(() => {});
  const poller = {
    run: async (signal: AbortSignal) => {
      await aborted(signal);
      if (hangs.includes('defect')) throw new TypeError('a defect');
      await ends('the last poll', never);
    },
  };
  const parts = {
    config: { shutdownTimeoutMs: 8_000, web: { host: undefined, metricsPath: '/metrics' } },
    environment: { clock, log, version: '1.0.0' },
    sources: [
      { api: 'portal', poller, savedParts: [], release: (late: AbortSignal) => ends('the revocation', aborted(late)) },
    ],
    server: {
      listen: () => Promise.resolve(9_989),
      close: (late: AbortSignal) => ends('the last scrape', aborted(late)),
    },
    keeper: { load: () => Promise.resolve(), run: aborted, save: () => ends('the save', never) },
  };
  const app = new App(parts as unknown as AppParts);
  return { app, clock, events, lines };
}

test('a stop lets scrapes and polls end, then saves the state and revokes the token', async () => {
  const { app, clock, events, lines } = program();
  expect(await app.start()).toBe(9_989);
  await clock.through(app.stop(), 100);
  expect(new Set(events)).toEqual(new Set(['the last poll', 'the last scrape', 'the revocation', 'the save']));
  expect(events.indexOf('the last poll')).toBeLessThan(events.indexOf('the save'));
  expect(events.indexOf('the last poll')).toBeLessThan(events.indexOf('the revocation'));
  expect(clock.monotonic()).toBeLessThan(1_000);
  expect(lines.map(({ msg }) => msg)).toEqual(['The exporter started.', 'The exporter stopped.']);
});

test('a stop ends shortly before SHUTDOWN_TIMEOUT whatever hangs', async () => {
  for (const what of ['the revocation', 'the last scrape', 'the last poll', 'the save']) {
    const { app, clock } = program([what]);
    await app.start();
    await clock.through(app.stop(), 100);
    expect(clock.monotonic(), what).toBe(7_200);
  }
});

test('a defect that ends the polls is one line, and the state is saved all the same', async () => {
  const { app, clock, events, lines } = program(['defect']);
  await app.start();
  await clock.through(app.stop(), 100);
  expect((await app.failed).message).toBe('a defect');
  expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  expect(events).toContain('the save');
});

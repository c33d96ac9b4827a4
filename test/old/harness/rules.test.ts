import { expect, onTestFinished, test } from 'vitest';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { LogLine } from '../support/program.ts';
import { Scrape } from '../support/scrape.ts';
import { Evidence } from './evidence.ts';
import { Judge } from './judge.ts';
import { Sent } from './sent.ts';
import { HOUR, MINUTE, toldOf } from './setup.ts';

/* Each rule of the judge, broken once by a made-up exporter. judge.test.ts takes promises out of the real one. */

/** A judge over an exporter of one appliance that shows what it is told to. */
async function court() {
  const clock = new ManualClock();
  const services = await startMockServices({ clock, appliances: 1, volumes: 1 });
  onTestFinished(() => services.close());
  const sent = new Sent(clock);
  const serial = services.fleet.appliances[0]?.serial ?? '';
  const evidence = new Evidence(clock, services, sent, toldOf({ series: ['cpu_utilization'] }));
  const judge = new Judge(evidence);
  judge.started(false);
  const path = `/portal/telemetry/appliances/${serial}/cpu_utilization`;
  return {
    ...{ clock, judge, sent, serial, path },
    /** A record of now is requested and answered. */
    answers: (body: unknown = { items: [{ time: clock.now(), cpu_usage: 1 }] }, status = 200) => {
      sent.left(path);
      const bytes = Buffer.from(JSON.stringify(body));
      judge.answered(path, { status, body: bytes, date: clock.now() / 1000 });
    },
    shows: (...lines: readonly string[]) =>
      judge.looked(new Scrape(lines.map((line) => `${line}\n`).join(''), false), true),
    series: () =>
      `filer_appliance_series_timestamp_seconds{serial="${serial}",series="cpu_utilization"} ${clock.now() / 1000}`,
    up: (value: number) => `filer_appliance_up{serial="${serial}"} ${value}`,
    apiUp: (value: number) => `filer_api_up{api="portal"} ${value}`,
  };
}

type Court = Awaited<ReturnType<typeof court>>;

const rules: readonly (readonly [rule: string, breaks: (one: Court) => Promise<void> | void])[] = [
  [
    'stale: ',
    async ({ clock, answers, shows, series }) => {
      answers();
      const line = series();
      await clock.advance(HOUR);
      shows(line);
    },
  ],
  [
    'up: the portal is up',
    async ({ clock, shows, apiUp }) => {
      await clock.advance(HOUR);
      shows(apiUp(1));
    },
  ],
  [
    'up: ',
    async ({ clock, answers, shows, up }) => {
      answers();
      await clock.advance(HOUR);
      shows(up(1));
    },
  ],
  [
    'unasked: /portal/telemetry',
    async ({ clock, answers, shows }) => {
      answers();
      await clock.advance(HOUR);
      shows();
    },
  ],
  [
    'unwell: cpu_utilization',
    async ({ clock, answers, shows }) => {
      await clock.advance(HOUR);
      answers();
      shows();
    },
  ],
  ['jumps: filer_jobs_finished_total', ({ shows }) => shows('filer_jobs_finished_total 1')],
  [
    'falls: ',
    ({ shows }) => {
      shows('# TYPE filer_exporter_x_total counter', 'filer_exporter_x_total 2');
      shows('# TYPE filer_exporter_x_total counter', 'filer_exporter_x_total 1');
    },
  ],
  [
    'falls: ',
    ({ shows }) => {
      shows('# TYPE filer_exporter_x_total counter', 'filer_exporter_x_total 2');
      shows();
    },
  ],
  [
    'costs: ',
    ({ sent, path, shows }) => {
      for (let left = 100; left > 0; left -= 1) sent.left(path);
      shows();
    },
  ],
  [
    'exceeds: ',
    ({ sent, path, shows }) => {
      for (let left = 501; left > 0; left -= 1) sent.left(path);
      shows();
    },
  ],
  [
    'refused: ',
    async ({ clock, answers, shows }) => {
      await clock.advance(HOUR);
      for (let left = 40; left > 0; left -= 1) answers({}, 429);
      shows();
    },
  ],
  [
    'unready: ',
    async ({ clock, judge }) => {
      await clock.advance(HOUR);
      judge.looked(new Scrape(''), false);
    },
  ],
  [
    'unwell: portal was told to be down',
    ({ clock, judge }) => clock.advance(2 * HOUR).then(() => judge.logged(line('the API cannot be polled'))),
  ],
  [
    'slow: ',
    async ({ clock, shows }) => {
      await clock.advance(2 * HOUR);
      shows('filer_exporter_effective_interval_seconds{api="portal"} 4000');
    },
  ],
];

test.each(rules)('the judge says “%s…” of an exporter that breaks this rule', async (rule, breaks) => {
  const one = await court();
  await breaks(one);
  expect(one.judge.broken.filter((each) => each.startsWith(rule))).not.toEqual([]);
});

test('the judge says nothing of an exporter that does what it should', async () => {
  const one = await court();
  for (let minute = 0; minute < 60; minute += 5) {
    for (const path of ['/portal/serials', '/portal/auth/token', '/portal/account/license'])
      if (minute % 15 === 0) one.sent.left(path);
    one.answers();
    one.shows(one.series(), one.up(1), one.apiUp(1));
    await one.clock.advance(5 * MINUTE);
  }
  expect(one.judge.broken).toEqual([]);
  one.judge.expectPromises([], 0);
});

test('up that goes up and down without an act of the story flaps', async () => {
  const { judge, shows, up } = await court();
  for (const value of [1, 0, 1, 0]) shows(up(value));
  expect(() => judge.expectPromises([], 1)).toThrow();
  expect(judge.broken.at(-1)).toMatch(/^flaps: filer_appliance_up /);
});

test('a log of more lines than the story has acts for talks, and a stack in it is a defect', async () => {
  const { judge } = await court();
  const lines = Array.from({ length: 50 }, () => ({ ...line('again'), stack: 'at x' }));
  expect(() => judge.expectPromises(lines, 0)).toThrow();
  expect(judge.broken).toEqual([expect.stringMatching(/^talks: /), 'a defect in the log']);
});

function line(msg: string): LogLine {
  return { level: 'warn', msg, api: 'portal' };
}

import { describe, expect, test } from 'vitest';
import { RequestError } from '../../../../src/runtime/errors.ts';
import {
  isoPeriod,
  type Period,
  PeriodRequester,
} from '../../../../src/services/portal/appliances/period-requester.ts';
import { going, mockApi, type Reply, token } from '../../../support/mock-api.ts';
import { outcomeOf, portalCollector, uuid } from '../../../support/portal-parts.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 2, 2);
const SERIAL = uuid(1);
const SERIES = `/telemetry/appliances/${SERIAL}/cpu_utilization`;

test.each([
  [15 * MINUTE, 'PT15M'],
  [7.5 * MINUTE, 'PT450S'],
  [360_001, 'PT361S'],
])('%d ms are the period %s', (ms, text) => {
  expect(isoPeriod(ms)).toBe(text);
});

/** What the service says of too large or too slow an answer, and the exporter of one that it does not read. */
const TOO_MUCH = [
  new RequestError('status', 'too slow', { status: 408, purpose: 'series' }),
  new RequestError('status', 'too large', { status: 413, purpose: 'series' }),
  new RequestError('oversize', 'too large', { purpose: 'series' }),
];

/** The minutes that a task asks for, when so many requests in a row are too much for one answer. */
async function minutesAsked(
  lookback: PeriodRequester,
  task: string,
  tooMuch: number,
  wanted = 15,
): Promise<readonly number[]> {
  const asked: number[] = [];
  const send = async ({ from, to }: Period) => {
    asked.push((to - from) / MINUTE);
    const error = TOO_MUCH[asked.length % TOO_MUCH.length];
    if (asked.length <= tooMuch) throw error;
  };
  const period = { from: NOW - wanted * MINUTE, to: NOW };
  await lookback.requestPeriod(task, period, { isNewestEnough: true }, send).catch(() => {});
  return asked;
}

test('a period halves down to six minutes, for its own task alone, and doubles back', async () => {
  const lookback = new PeriodRequester();
  expect(await minutesAsked(lookback, 'a', 9)).toEqual([15, 7.5, 6]);
  expect(await minutesAsked(lookback, 'b', 0)).toEqual([15]);
  expect(await minutesAsked(lookback, 'b', 0, 2)).toEqual([6]);
  expect(await minutesAsked(lookback, 'a', 0)).toEqual([6]);
  expect(await minutesAsked(lookback, 'a', 0)).toEqual([12]);
  expect(await minutesAsked(lookback, 'a', 0)).toEqual([15]);
  expect(await minutesAsked(lookback, 'a', 0)).toEqual([15]);
});

describe('a series that is too much for one answer', () => {
  const good: Reply = [200, { items: [{ time: 1, cpu_usage: '5' }] }];

  async function periods(...replies: readonly Reply[]): Promise<{ asked: string[]; outcomes: unknown[] }> {
    const api = mockApi();
    api.answer('POST', '/auth/token', token('one'));
    api.answer('POST', SERIES, ...replies);
    const task = [...portalCollector(api, { serials: [SERIAL] }).tasks()][1];
    const outcomes: unknown[] = [];
    const asked = () => api.sent.slice(1).map(({ body }) => String(JSON.parse(body).period));
    while (asked().length < replies.length) outcomes.push(await outcomeOf(api, task?.poll(going) ?? Promise.reject()));
    expect(api.sent.slice(1).every(({ body }) => JSON.parse(body).bin_size === 60)).toBe(true);
    return { asked: asked(), outcomes };
  }

  test('is asked for with half the period after a 413, and with the whole again once half needed no halving', async () => {
    const { asked, outcomes } = await periods([413, undefined], good, good, good);
    expect(asked).toEqual(['PT15M', 'PT450S', 'PT450S', 'PT15M']);
    expect(outcomes).toHaveLength(3);
  });

  test('is not asked for with less after any other failure', async () => {
    const { asked } = await periods([500, undefined], [500, undefined], good);
    expect(new Set(asked)).toEqual(new Set(['PT15M']));
  });
});

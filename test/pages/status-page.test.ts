import { describe, expect, test } from 'vitest';
import { statusPage } from '../../src/pages/status-page.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { api, appliance, reportOf, secondsAgo, textOf } from './reports.ts';

const pageOf = (change: Partial<StatusReport> = {}) => textOf(runToEnd(statusPage(reportOf(change), 'export {};')));

/** The page as somebody reads it: without tags, one blank between words. */
async function wordsOf(change: Partial<StatusReport> = {}): Promise<string> {
  const body = (await pageOf(change)).split('<body>')[1] ?? '';
  const text = body.replaceAll(/<script[\s\S]*<\/script>/g, '').replaceAll(/<[^>]*>/g, ' ');
  return text.replaceAll(/\s+/g, ' ');
}

describe('each API', () => {
  test('is told with state, last success, token, pace, limits, budget, intervals, ages and what rests', async () => {
    const words = await wordsOf();
    for (const fact of [
      'Portal portal up',
      'Address https://portal.example.com',
      'Last success 2s ago',
      'Token expires in 10m',
      'Pace 16.7 requests a second',
      'Limits 500 requests in 30s, 1,000,000 in 24h',
      'Budget left today 987,654 of 1,000,000',
      'Effective interval 5m, as configured',
      'Data age median 2m 30s, worst 4m 59s; at most 7m 30s while healthy',
      'Last complete sweep 4m 50s',
      'Tasks 31: 0 suspended, 2 without records',
      'Suspended tasks, by reason (1)',
      'cow_disk_iops answers without records 2',
      'serials 1 15m 1m fine',
    ]) {
      expect(words).toContain(fact);
    }
  });

  test('that is down says why, and one that holds its requests until when', async () => {
    const pace = { requestsPerSecond: 0, sustainedRequestsPerSecond: 2, waitUntil: secondsAgo(-45), throttled: true };
    const words = await wordsOf({
      apis: [api({ state: 'down', lastError: 'GET /serials was answered 503', pace, lastSuccess: null })],
    });
    expect(words).toContain('Portal portal down');
    expect(words).toContain('Last success never');
    expect(words).toContain('Last error GET /serials was answered 503');
    expect(words).toContain('held after a 429; next request in 45s , then 2 requests a second');
  });

  test('tells what is asked about the account, where it rests or fails, and what is amiss with the account', async () => {
    const [one] = api().accountTasks;
    if (one === undefined) throw new Error('expected a task');
    const accountTasks = [
      { ...one, operation: 'license', suspended: 1, dataAgeSeconds: null },
      {
        ...one,
        operation: 'snapshot_details',
        tasks: 30,
        suspended: 4,
        failing: 2,
        lastError: 'GET /x was answered 500',
      },
    ];
    const words = await wordsOf({ apis: [api({ accountTasks, notes: ['The licence lacks something.'] })] });
    expect(words).toContain('license 1 15m – suspended');
    expect(words).toContain('snapshot_details 30 15m 1m GET /x was answered 500 4 suspended, 2 failing');
    expect(words).toContain('The licence lacks something.');
  });

  test('says when the limits do not allow the interval asked for', async () => {
    expect(await wordsOf({ apis: [api({ effectiveIntervalSeconds: 725 })] })).toContain(
      'Effective interval 12m 5s : the limits do not allow the configured 5m',
    );
  });

  test('of which nothing is known yet says so, and makes nothing up', async () => {
    const words = await wordsOf({
      apis: [
        api({
          api: 'gfa',
          title: 'File acceleration',
          state: 'waiting',
          lastSuccess: null,
          token: { kind: 'key', expires: null },
          limits: { requests: 4, windowSeconds: 60, requestsPerDay: null },
          budgetRemaining: null,
          sweepSeconds: null,
          dataAge: { medianSeconds: null, worstSeconds: null, computedWorstSeconds: 90 },
          suspended: [],
          accountTasks: [],
        }),
      ],
      appliances: [],
    });
    for (const fact of [
      'File acceleration gfa waiting',
      'Last success never',
      'Token a key without an expiry',
      'Limits 4 requests in 1m, no daily limit',
      'Budget left today no daily limit',
      'Data age no data yet',
      'Last complete sweep in progress',
      'No appliances yet.',
    ]) {
      expect(words).toContain(fact);
    }
    expect(words).not.toMatch(/null|undefined|NaN|Invalid/);
    expect(await pageOf({ appliances: [] })).not.toContain('class="fleet"');
  });
});

describe('each appliance', () => {
  test('is a row: name, state, serial, build, last poll, data age, suspended series and why, last error', async () => {
    const words = await wordsOf({
      appliances: [
        appliance(1, {
          name: 'Boston',
          state: 'down',
          availableBuild: '10.2.0',
          lastPoll: secondsAgo(3),
          dataAgeSeconds: 3_725,
          suspended: [
            { operation: 'cow_disk_iops', reason: 'empty' },
            { operation: 'smb_connections', reason: 'forbidden' },
            { operation: 'cow_disk_io_time', reason: 'empty' },
          ],
          failing: 2,
          lastError: { operation: 'cpu_utilization', time: secondsAgo(65), message: 'POST /x was answered 500' },
        }),
      ],
    });
    expect(words).toContain(
      'Boston down 00000000-0000-4000-8000-000000000001 10.1.2 → 10.2.0 3s ago 1h 2m ' +
        '1 of 22 · 2 without records, 1 forbidden (403) ' +
        'answers without records cow_disk_iops, cow_disk_io_time ' +
        'forbidden (403): the right or the licence is missing smb_connections ' +
        'POST /x was answered 500 1m 5s ago · 2 series failing',
    );
  });

  test('that fails says with which series, and not once more which appliance it is', async () => {
    const { serial } = appliance(1);
    const message = `POST /telemetry/appliances/${serial}/cpu_utilization was answered 500: out of order`;
    const lastError = { operation: 'cpu_utilization', time: secondsAgo(5), message };
    const words = await wordsOf({ appliances: [appliance(1, { lastError, failing: 1 })] });
    expect(words).toContain('cpu_utilization was answered 500: out of order 5s ago');
    expect(words.split(serial)).toHaveLength(2);
  });

  test('waits until its first verdict, though its first polls have failed', async () => {
    const lastError = { operation: 'load_average', time: secondsAgo(1), message: 'POST /x was answered 500' };
    const fresh = { state: 'waiting', lastPoll: secondsAgo(1), dataAgeSeconds: null, failing: 1, lastError } as const;
    expect(await wordsOf({ appliances: [appliance(1, fresh)] })).toContain(
      'waiting 00000000-0000-4000-8000-000000000001 10.1.2 1s ago – 0 of 22 POST /x was answered 500',
    );
  });

  test('is counted by its state, and the oldest data of all is told', async () => {
    const appliances = [
      appliance(1),
      appliance(2, { state: 'down', dataAgeSeconds: 7_200 }),
      appliance(3, { state: 'waiting', dataAgeSeconds: null }),
    ];
    const words = await wordsOf({ appliances });
    expect(words).toContain('Appliances 3 Up 1 Without records 0 Down 1 Waiting 1 Oldest data 2h');
  });

  test('is one line of the page, which is what the script replaces', async () => {
    const message = 'a\nb\r\nc';
    const lastError = { operation: 'o', time: secondsAgo(1), message };
    const page = await pageOf({ appliances: [appliance(1, { lastError }), appliance(2), appliance(3)] });
    expect(page.match(/^<tr role="row" id="a-.*<\/tr>$/gm)).toHaveLength(3);
    expect(page).toContain('a b c');
  });
});

test('a shard says that it lists only its own part of the fleet', async () => {
  expect(await wordsOf({ shard: { index: 1, total: 3 } })).toContain('shard 1 of 3: only its appliances are listed');
  expect(await wordsOf()).not.toContain('shard');
});

test('whatever a service or an appliance calls itself is shown as text', async () => {
  const hostile = `</td></script><script>alert("x")</script>&'`;
  const suspended = [{ operation: hostile, reason: 'empty' }] as const;
  const page = await pageOf({
    version: hostile,
    revision: hostile,
    apis: [
      api({
        url: hostile,
        lastError: hostile,
        suspended: [{ operation: hostile, reason: 'empty', tasks: 1 }],
        accountTasks: [{ ...api().accountTasks[0], operation: hostile, lastError: hostile } as never],
        notes: [hostile],
      }),
    ],
    appliances: [
      appliance(1, {
        name: hostile,
        serial: hostile,
        build: hostile,
        availableBuild: hostile,
        suspended,
        lastError: { operation: hostile, time: secondsAgo(1), message: hostile },
      }),
    ],
  });
  expect(page.match(/<script/g)).toHaveLength(1);
  expect(page).not.toContain('alert("x")');
  expect(page.split('&lt;/td&gt;&lt;/script&gt;&lt;script&gt;alert(&quot;x&quot;)').length).toBeGreaterThan(12);
});

test('its policy lets nothing run or load but its own script, by hash, and the page itself anew', () => {
  const { headers } = runToEnd(statusPage(reportOf(), 'export {};'));
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]+='; img-src data:; script-src 'sha256-[\w+/]+='; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
  );
});

test('without scripts it loads itself anew', async () => {
  expect(await pageOf()).toContain('<noscript><meta http-equiv="refresh" content="30"></noscript>');
});

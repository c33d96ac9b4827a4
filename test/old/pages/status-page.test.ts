import { describe, expect, test } from 'vitest';
import { statusPage } from '../../src/pages/status-page.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { api, appliance, failure, largeFleet, reportOf, secondsAgo, textOf } from './reports.ts';

const pageOf = (change: Partial<StatusReport> = {}, query = '') =>
  textOf(runToEnd(statusPage(reportOf(change), { script: 'export {};', query })));

/** The page as somebody reads it: without tags, one blank between words. */
async function wordsOf(change: Partial<StatusReport> = {}, query = ''): Promise<string> {
  const body = (await pageOf(change, query)).split('<body>')[1] ?? '';
  const text = body.replaceAll(/<script[\s\S]*<\/script>/g, '').replaceAll(/<[^>]*>/g, ' ');
  return text.replaceAll(/\s+/g, ' ');
}

describe('each API', () => {
  test('is shown with state, last success, token, request rate, limits, daily quota, intervals and suspended tasks', async () => {
    const words = await wordsOf();
    for (const fact of [
      'Portal portal up last success 2s ago · polled every 5m · 987,654 requests left today',
      'Address https://portal.example.com',
      'Last success 2s ago',
      'Token expires in 10m',
      'Request rate 16.7 requests a second',
      'Limits 500 requests in 30s, 1,000,000 in 24h',
      'Daily quota left 987,654 of 1,000,000',
      'Effective interval 5m, as configured',
      'Last successful polls median 2m 30s ago, oldest 4m 59s ago (at most 7m 30s while healthy)',
      'Last complete cycle 4m 50s',
      'Tasks 31: 2 suspended (no records)',
      'Suspended tasks, by reason (1)',
      'cow_disk_iops no records: the response is empty 2',
      'serials 1 15m 1m ago fine',
    ]) {
      expect(words).toContain(fact);
    }
  });

  test('that is down shows why without a click, and when the next request is sent', async () => {
    const pace = { requestsPerSecond: 0, sustainedRequestsPerSecond: 2, waitUntil: secondsAgo(-45), throttled: true };
    const words = await wordsOf({
      apis: [
        api({ state: 'down', downReason: 'http_5xx', lastError: 'GET /serials returned 503', pace, lastSuccess: null }),
      ],
    });
    expect(words).toContain('Portal portal down');
    expect(words).toContain('Last success never');
    expect(words).toContain('Down (http_5xx): GET /serials returned 503');
    expect(words).toContain('waiting after a 429; next request in 45s , then 2 requests a second');
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
        lastError: 'GET /x returned 500',
        advice: 'wait',
      },
    ];
    const words = await wordsOf({
      apis: [
        api({
          accountTasks,
          warnings: [{ code: 'licence', happened: 'the licence lacks something', advice: 'buy it' }],
        }),
      ],
    });
    expect(words).toContain('license 1 15m – suspended');
    expect(words).toContain('snapshot_details 30 15m 1m ago GET /x returned 500; wait 4 suspended, 2 failing');
    expect(words).toContain('The licence lacks something. Buy it.');
  });

  test('advises the same thing once, whatever one cause brings with it', async () => {
    const advice = 'wait, and ask the operator';
    const lastError = failure({ message: 'Response 503', advice });
    const words = await wordsOf({
      apis: [
        api({
          downReason: 'server_error',
          cause: { happened: 'the service fails', advice },
          warnings: ['serials', 'edges'].map((list) => ({ code: 'inventory', happened: `${list} is missing`, advice })),
        }),
      ],
      appliances: [
        appliance(1, { lastError }),
        appliance(2, { lastError: { ...lastError, advice: 'raise the limit' } }),
      ],
    });
    expect(words.match(/wait, and ask the operator/gi)).toHaveLength(1);
    expect(words).toContain('Serials is missing. Edges is missing.');
    expect(words).toContain('Response 503 1s ago');
    expect(words).toContain('Response 503; raise the limit 1s ago');
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
      'Daily quota left no daily limit',
      'Last successful polls none yet',
      'Last complete cycle in progress',
      'No portal is configured, so no appliance is polled.',
    ]) {
      expect(words).toContain(fact);
    }
    expect(words).not.toMatch(/null|undefined|NaN|Invalid/);
  });
});

describe('each appliance', () => {
  test('is a row: name, state, serial, build, last poll, last record, suspended series with the reasons, last error', async () => {
    const words = await wordsOf({
      appliances: [
        appliance(1, {
          name: 'Boston',
          state: 'down',
          availableBuild: '10.2.0',
          lastPoll: secondsAgo(3),
          lastRecord: secondsAgo(3_725),
          suspended: [
            { operation: 'cow_disk_iops', reason: 'empty' },
            { operation: 'smb_connections', reason: 'forbidden' },
            { operation: 'cow_disk_io_time', reason: 'empty' },
          ],
          failing: 2,
          lastError: failure({ time: secondsAgo(65), message: 'POST /x returned 500' }),
        }),
      ],
    });
    expect(words).toContain(
      'Boston down 00000000-0000-4000-8000-000000000001 10.1.2 → 10.2.0 3s ago 1h 2m ago ' +
        '22, 3 suspended (2 no records, 1 forbidden) ' +
        'no records: the response is empty cow_disk_iops, cow_disk_io_time ' +
        'forbidden (403): the right or the licence is missing smb_connections ' +
        'POST /x returned 500; wait 1m 5s ago · 2 series failing',
    );
  });

  test('that fails says with which series, and not once more which appliance it is', async () => {
    const { serial } = appliance(1);
    const message = `POST /telemetry/appliances/${serial}/cpu_utilization returned 500: out of order`;
    const lastError = failure({ operation: 'cpu_utilization', time: secondsAgo(5), message });
    const words = await wordsOf({ appliances: [appliance(1, { lastError, failing: 1 })] });
    expect(words).toContain('cpu_utilization returned 500: out of order; wait 5s ago');
    expect(words.split(serial)).toHaveLength(2);
  });

  test('waits until its first verdict, though its first polls have failed', async () => {
    const lastError = failure({ operation: 'load_average', message: 'POST /x returned 500' });
    const fresh = { state: 'waiting', lastPoll: secondsAgo(1), lastRecord: null, failing: 1, lastError } as const;
    expect(await wordsOf({ appliances: [appliance(1, fresh)] })).toContain(
      'waiting 00000000-0000-4000-8000-000000000001 10.1.2 1s ago – 22 POST /x returned 500',
    );
  });

  test('that is healthy shows the series it has no records of only when its row is opened', async () => {
    const suspended = [{ operation: 'cow_disk_iops', reason: 'empty' }] as const;
    const page = await pageOf({ appliances: [appliance(1, { suspended })] });
    expect(page).toContain('<summary>22</summary><dl><dt>no records: the response is empty</dt>');
  });

  test('is one line of the page, which is what the script replaces', async () => {
    const lastError = failure({ message: 'a\nb\r\nc' });
    const page = await pageOf({ appliances: [appliance(1, { lastError }), appliance(2), appliance(3)] });
    expect(page.match(/^<tr role="row" id="a-.*<\/tr>$/gm)).toHaveLength(3);
    expect(page).toContain('a b c');
  });
});

describe('the fleet', () => {
  const lastError = failure();
  const forbidden = [{ operation: 'p', reason: 'forbidden' }] as const;
  const appliances = [
    appliance(1, { build: '10.1.2', lastRecord: secondsAgo(60) }),
    appliance(2, { build: '9.15.7', lastRecord: secondsAgo(600), lastError }),
    appliance(3, { state: 'down', build: null, lastRecord: null }),
    appliance(4, { state: 'no_records', suspended: forbidden }),
    appliance(5, { state: 'waiting' }),
    appliance(6, { state: 'unknown' }),
  ];
  const shown = async (query: string) =>
    [...(await pageOf({ appliances }, query)).matchAll(/scope="row">edge-(\d)</g)].map(([, number]) => number).join('');

  test('is counted by state, and each number is a link to the appliances that it counts', async () => {
    expect(await wordsOf({ appliances })).toContain(
      'All 6 Down 1 No records 1 Unknown 1 Waiting 1 Up 2 With errors 1 Rejected series 1 Appliances',
    );
    const links = [...(await pageOf({ appliances })).matchAll(/class="tile [^"]*" href="([^"]*)"/g)];
    const lists = await Promise.all(links.map(([, href = '']) => shown(href.slice(1))));
    expect(lists).toEqual(['346512', '3', '4', '6', '5', '12', '2', '4']);
  });

  test.each([
    ['', '346512'],
    ['sort=name', '123456'],
    ['sort=name&order=descending', '654321'],
    ['sort=build', '214563'],
    ['sort=build&order=descending', '145623'],
    ['sort=record', '216543'],
    ['sort=series&order=descending', '412356'],
    ['filter=EDGE+9.15', '2'],
    ['filter=response', '2'],
    ['show=constructor&sort=__proto__&order=up&page=-1&filter=', '346512'],
    ['page=99&%E0%A4%A', '346512'],
  ])('with %j in the address has appliances %s: down first, what is unknown last', async (query, numbers) => {
    expect(await shown(query)).toBe(numbers);
  });

  test('says why no appliance is shown, and leads back to all', async () => {
    const words = await wordsOf({ appliances: [appliance(1)] }, 'show=down&filter=%3Cb%3E');
    expect(words).toContain('No appliance is down and contains “&lt;b&gt;”. Show all 1');
  });

  test('of 2,000 appliances comes in pages of at most 3,000 elements, whatever has failed', async () => {
    const suspended = [
      ...forbidden,
      { operation: 'q', reason: 'empty' },
      { operation: 'r', reason: 'not_found' },
    ] as const;
    const fleet = largeFleet(2_000).map(
      (each) => ({ ...each, state: 'down', lastError, failing: 2, suspended }) as const,
    );
    const down = { state: 'down', downReason: 'http_5xx', lastError: 'Response 503' } as const;
    const seen = new Set<string>();
    let query: string | undefined = '';
    while (query !== undefined) {
      const page: string = await pageOf({ appliances: fleet, apis: [api(down), api({ ...down, api: 'gfa' })] }, query);
      expect(page.match(/<[a-z]/g)?.length).toBeLessThan(3_000);
      for (const [id] of page.matchAll(/id="a-[^"]*"/g)) seen.add(id);
      query = / href="\?([^"]*)">Next/.exec(page)?.[1]?.replaceAll('&amp;', '&');
    }
    expect(seen.size).toBe(2_000);
  });
});

test('a shard says that it lists only its own part of the fleet', async () => {
  expect(await wordsOf({ shard: { index: 1, total: 3 } })).toContain('shard 1 of 3: only its appliances are listed');
  expect(await wordsOf()).not.toContain('shard');
});

test('[page-scripts] whatever a service or an appliance calls itself is shown as text', async () => {
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
        warnings: [{ code: hostile, happened: hostile, advice: hostile }],
      }),
    ],
    appliances: [
      appliance(1, {
        name: hostile,
        serial: hostile,
        build: hostile,
        availableBuild: hostile,
        suspended,
        lastError: failure({ operation: hostile, message: hostile }),
      }),
    ],
  });
  expect(page.match(/<script/g)).toHaveLength(1);
  expect(page).not.toContain('alert("x")');
  expect(page.split('&lt;/td&gt;&lt;/script&gt;&lt;script&gt;alert(&quot;x&quot;)').length).toBeGreaterThan(12);
});

test('its policy lets nothing run or load but its own script, by hash, and the page itself anew', () => {
  const { headers } = runToEnd(statusPage(reportOf(), { script: 'export {};' }));
  expect(headers['content-security-policy']).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/]+='; img-src data:; script-src 'sha256-[\w+/]+='; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
});

test('without scripts it loads itself anew', async () => {
  expect(await pageOf()).toContain('<noscript><meta http-equiv="refresh" content="30"></noscript>');
});

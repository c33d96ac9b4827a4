// Only here: what somebody on the network can do to a real process.
import { expect } from 'vitest';
import { until } from '../support/until.ts';
import { battery } from './battery.ts';
import type { Row } from './row.ts';
import { basic, PASSWORD, WAIT_MS } from './stage.ts';

const GZIP = 'Host: x\r\nAccept-Encoding: gzip\r\n\r\n';
const SILENT = '';

const WITHOUT_PASSWORD = [
  ...['GET /metrics HTTP/1.1', 'HEAD /metrics HTTP/1.1', 'GET //metrics HTTP/1.1', 'GET /%6detrics HTTP/1.1'],
  ...['GET /healthz/../metrics HTTP/1.1', 'GET /metrics?/healthz HTTP/1.1', 'GET /healthz#/metrics HTTP/1.1'],
  ...['GET http://x/metrics HTTP/1.1', 'GET http://x/healthz HTTP/1.1', 'GET /status HTTP/1.1'],
  ...['GET /api/v1/status HTTP/1.1', 'GET / HTTP/1.1', 'OPTIONS * HTTP/1.1', 'CONNECT x:80 HTTP/1.1'],
  ...['GET /metrics HTTP/1.0', 'GET /metrics'],
];

const SMUGGLED = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';

/** Requests that two readers may cut differently; what is behind the first must be answered as a request by neither. */
const AMBIGUOUS: readonly (readonly [name: string, request: string])[] = [
  [
    'a length and chunks',
    `GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ['two lengths', `GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 36\r\n\r\n${SMUGGLED}`],
  ['a line end of \\r alone', `GET /healthz HTTP/1.1\r\nHost: x\r\n\rX: y\r\n\r\n${SMUGGLED}`],
  ['a folded header', `GET /healthz HTTP/1.1\r\nHost: x\r\n Transfer-Encoding: chunked\r\n\r\n${SMUGGLED}`],
  ['a blank before the colon', `GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n${SMUGGLED}`],
  [
    'a chunk of a length that is none',
    `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n${SMUGGLED}`,
  ],
  ['an unknown coding', `GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n${SMUGGLED}`],
];

const strangers: readonly Row[] = [
  {
    id: 'answers-unread',
    tries: 'asks for /metrics and /status on 300 connections, and reads nothing',
    holds: 'answers under way are limited, and one that is not read for two seconds gives way to the next',
    setup: {},
    play: async (stage) => {
      await Promise.all(['/metrics', '/status'].map((path) => stage.flood(150, `GET ${path} HTTP/1.1\r\n${GZIP}`)));
      await stage.scrape();
      await until('a page', async () => (await stage.ask('/status')).status === 200, WAIT_MS);
    },
  },
  {
    id: 'scrapes-at-once',
    tries: 'sends 240 scrapes at once, where MAX_SCRAPES allows them',
    holds: 'each gets its response',
    setup: { environment: { MAX_SCRAPES: '240' } },
    play: async (stage) => {
      const responses = await Promise.all(
        Array.from({ length: 240 }, () => stage.ask('/metrics', { waitMs: WAIT_MS })),
      );
      expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
      await stage.scrape();
    },
  },
  {
    id: 'no-password',
    tries: 'asks for every page in every form of a request line, with no password or a wrong one',
    holds: 'nothing but the open paths is answered with what it asks for',
    setup: { web: 'users' },
    play: async (stage) => {
      const wrong = [
        SILENT,
        'Authorization: Basic bWU6R2VoZWlt\r\n',
        'Authorization: Bearer geheim\r\n',
        'Authorization: Basic \r\n',
      ];
      for (const line of WITHOUT_PASSWORD) {
        for (const header of wrong) {
          const heard = await stage.say(`${line}\r\nHost: x\r\n${header}\r\n`, 200);
          const statuses = [...heard.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));
          const allowed = /healthz HTTP/.test(line) ? [200, 401] : [400, 401, 404, 405];
          expect(
            statuses.filter((status) => !allowed.includes(status)),
            line,
          ).toEqual([]);
          expect(heard).not.toMatch(/filer_|appliance/);
        }
      }
    },
  },
  {
    id: 'password-guesses',
    tries: 'guesses passwords with 300 requests at once, from 300 addresses and from one',
    holds:
      'a scraper that the process has not seen before gets in, though their first guesses come with it, and waits no more',
    setup: { web: 'costly users' },
    needsClients: true,
    play: async (stage) => {
      for (const [user, addresses] of [
        ['me', 300],
        ['you', 1],
      ] as const) {
        let isOver = false;
        const guess = async (client: number) => {
          const address = client % addresses;
          for (let times = 0; !isOver; times += 1) {
            await stage
              .ask('/metrics', {
                headers: basic('me', `${client}-${times}`),
                from: `127.${20 + (address % 220)}.${Math.trunc(address / 220)}.1`,
              })
              .catch(() => {});
          }
        };
        const guessing = Array.from({ length: 300 }, (_, client) => guess(client));
        const scraper = { headers: basic(user, 'geheim'), from: '127.0.0.2', isOwnProcess: true };
        try {
          // As after a restart: the first guess of each address comes with the first scrape.
          await stage.scrape(scraper, 2);
          for (let scrapes = 0; scrapes < 2; scrapes += 1)
            expect((await stage.ask('/metrics', scraper)).status).toBe(200);
          expect((await stage.ask('/healthz')).status).toBe(200);
        } finally {
          isOver = true;
          await Promise.all(guessing);
        }
      }
    },
  },
  {
    id: 'nonsense',
    tries: 'sends what is no request, too long, or in TLS to a port without',
    holds: 'it gets an empty response or none, and the connection is closed',
    setup: {},
    play: async (stage) => {
      const bytes = [
        'nonsense\r\n\r\n',
        `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
        `GET / HTTP/1.1\r\nHost: x\r\n${'X-A: b\r\n'.repeat(8_000)}\r\n`,
        'GET / HTTP/1.1\r\n\r\n',
        'GET / HTTP/9.9\r\nHost: x\r\n\r\n',
        Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03, 0x00]),
        Buffer.alloc(100_000, 0xff),
      ];
      for (const each of bytes) {
        const heard = await stage.say(each);
        if (heard === '') continue;
        expect(heard).toMatch(/^HTTP\/1\.1 (?:400|431|505) /);
        expect(heard).toMatch(/\r\nConnection: close\r\n(?:[^\r]+\r\n)*\r\n(?:0\r\n\r\n)?$/);
      }
      await stage.scrape();
    },
  },
  {
    id: 'every-answer',
    tries: 'has an answer of any kind read as something else, or from a cache',
    holds: 'every answer says nosniff and no-store',
    setup: { web: 'users' },
    play: async (stage) => {
      const answers = await Promise.all([
        ...['/metrics', '/status', '/api/v1/status', '/', '/nowhere', '/healthz', '/readyz'].flatMap((path) =>
          ['GET', 'HEAD', 'POST', 'OPTIONS'].flatMap((method) => [
            stage.ask(path, { method }),
            stage.ask(path, { method, headers: PASSWORD }),
          ]),
        ),
      ]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401, 404, 405]));
      for (const { headers } of answers) {
        expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
      }
    },
  },
  {
    id: 'smuggled-requests',
    tries: 'hides a request in another, in forms that a proxy may read differently',
    holds: 'what can be read in two ways is refused, and nothing behind it is answered',
    setup: {},
    play: async (stage) => {
      for (const [name, request] of AMBIGUOUS) {
        const heard = await stage.say(request);
        expect(heard, name).not.toContain('filer_exporter_build_info');
        expect([...heard.matchAll(/^HTTP\/1\.1 /gm)].length, name).toBeLessThanOrEqual(1);
      }
      await stage.scrape();
    },
  },
  {
    id: 'handshakes',
    tries: 'begins 300 TLS handshakes and ends none',
    holds: 'a scrape gets its response: the oldest handshake makes room',
    setup: { web: 'tls' },
    play: async (stage) => {
      await stage.flood(300, Buffer.from([0x16, 0x03, 0x01, 0x40, 0x00, 0x01, 0x00, 0x3f, 0xfc, 0x03, 0x03]));
      await stage.scrape();
    },
  },
];

battery('stranger', strangers);

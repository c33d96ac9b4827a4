import { expect } from 'vitest';
import { until } from '../support/until.ts';
import { GEHEIM } from '../web/asking.ts';
import type { Row } from './row.ts';
import { PASSWORD, WEB } from './stage.ts';

const ASK = `Host: x\r\nAccept-Encoding: gzip\r\nAuthorization: ${PASSWORD.authorization}\r\n\r\n`;

/** What an attacker can try who has a password. */
export const guests: readonly Row[] = [
  {
    id: 'guest-requests-ahead',
    who: 'guest',
    tries: 'sends a hundred thousand requests ahead on 60 connections with the password, and reads nothing',
    holds: 'the same as without a guard: memory is bounded, and another scraper is answered',
    setup: { web: 'users' },
    play: async (stage) => {
      for (const { socket } of await stage.wires(60)) {
        socket.pause();
        socket.write(`GET /status HTTP/1.1\r\n${ASK}`.repeat(1_000));
      }
      await stage.scrape();
    },
  },
  {
    id: 'guest-connections',
    who: 'guest',
    tries: 'holds 300 connections, each let in once',
    holds: 'the one idle longest makes room for a scraper, and probes are answered',
    setup: { web: 'users' },
    play: async (stage) => {
      for (const { socket } of await stage.wires(300)) socket.resume().write(`HEAD /metrics HTTP/1.1\r\n${ASK}`);
      await stage.scrape();
      expect((await stage.ask('/healthz')).status).toBe(200);
    },
  },
  {
    id: 'guest-answers-unread',
    who: 'guest',
    tries: 'asks for /metrics on 100 connections, and reads nothing',
    holds: 'beyond MAX_SCRAPES the one that has not been read longest gives way',
    setup: { web: 'users', environment: { MAX_SCRAPES: '5' } },
    play: async (stage) => {
      for (const { socket } of await stage.wires(100)) {
        socket.pause();
        socket.write(`GET /metrics HTTP/1.1\r\n${ASK}`);
      }
      await stage.scrape();
    },
  },
  {
    id: 'guest-writes',
    who: 'guest',
    tries: 'changes something with another method',
    holds: 'only GET and HEAD are answered',
    setup: { web: 'users' },
    play: async (stage) => {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE']) {
        for (const path of ['/metrics', '/status', '/', '/-/reload', '/-/quit']) {
          const { status } = await stage.ask(path, { method, headers: PASSWORD });
          expect([404, 405]).toContain(status);
        }
      }
      await stage.scrape();
    },
  },
  {
    id: 'guest-taken-out',
    who: 'guest',
    tries: 'goes on with a password that was taken out of the file',
    holds: 'the password is asked for in each request, and is wrong within seconds',
    setup: { web: 'users' },
    play: async (stage) => {
      await stage.scrape();
      stage.writeWeb(`basic_auth_users:\n  you: ${GEHEIM}\n`);
      await until(
        'the password to be wrong',
        async () => (await stage.ask('/metrics', { headers: PASSWORD })).status === 401,
      );
      stage.writeWeb(WEB.users);
      await stage.scrape();
    },
  },
  {
    id: 'page-scripts',
    who: 'guest',
    tries: 'has a title of a filer run as a script on the status page',
    holds: 'pages escape every text, and run no script but their own',
    shownBy: ['pages/status-page.test.ts', 'whatever a service or an appliance calls itself is shown as text'],
  },
];

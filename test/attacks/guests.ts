import { expect } from 'vitest';
import { until } from '../support/until.ts';
import { GEHEIM } from '../web/asking.ts';
import type { Row } from './row.ts';
import { PASSWORD, WEB } from './stage.ts';

const ASK = `Host: x\r\nAccept-Encoding: gzip\r\nAuthorization: ${PASSWORD.authorization}\r\n\r\n`;

/** What an attacker can try who has a password. */
export const guests: readonly Row[] = [
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
];

// Only here: what somebody on the network can send that needs no other program.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { battery } from './battery.ts';
import type { Row } from './row.ts';

const GZIP = 'Host: x\r\nAccept-Encoding: gzip\r\n\r\n';

/** So many bytes of a connection are read at once. */
const READ_AT_ONCE = 65_536;

/** What is sent first, and many times behind it before the first is answered. */
const AHEAD = [
  ['', `GET /status HTTP/1.1\r\n${GZIP}`],
  ['', 'GET / HTTP/1.1\r\nHost:x\r\n\r\n'],
  [`GET /status HTTP/1.1\r\n${GZIP}`, 'GET / HTTP/1.1\r\n\r\n'],
  [`GET /status HTTP/1.1\r\n${GZIP}`, 'GET / HTTP/1.1\r\nHost:x\r\nExpect:x\r\n\r\n'],
] as const;

/** The number of connections that the process says it closed, by reason. */
function closed(text: string, reason: string): number {
  const line = new RegExp(`^filer_exporter_web_connections_closed_total\\{reason="${reason}"\\} (\\d+)$`, 'm');
  return Number(line.exec(text)?.[1]);
}

const strangers: readonly Row[] = [
  {
    id: 'requests-ahead',
    tries:
      'sends half a million requests ahead on 200 connections, the shortest and those that are refused, and reads nothing',
    holds: 'a connection brings one request, and what follows it is not read',
    setup: {},
    play: async (stage) => {
      for (const [first, ahead] of AHEAD) {
        await stage.flood(200, first + ahead.repeat(Math.floor(READ_AT_ONCE / ahead.length)));
        await stage.scrape();
      }
      await sleep(2_000);
      await stage.scrape();
    },
  },
  {
    id: 'idle-connections',
    tries: 'holds 1,000 connections on which nothing is sent',
    holds:
      'at MAX_CONNECTIONS a new connection replaces the oldest one without a request; one line in the log, counted',
    setup: {},
    play: async (stage) => {
      await stage.flood(1_000, '');
      for (let scrapes = 0; scrapes < 10; scrapes += 1) expect((await stage.ask('/metrics')).status).toBe(200);
      const { text } = await stage.scrape();
      expect(closed(text, 'limit')).toBeGreaterThan(740);
      const line =
        'The limit of connections is reached (MAX_CONNECTIONS): new connections replace those without a request.';
      expect(stage.program.log.filter(({ msg }) => msg === line)).toHaveLength(1);
    },
  },
];

battery('stranger', strangers);

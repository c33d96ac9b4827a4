import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';

import { served } from './polite.ts';

const CANARY = 'canary-5ec1e7-and-more';
const request = {
  method: 'POST',
  path: '/auth/token',
  operation: 'token',
  headers: { authorization: `Bearer ${CANARY}` },
  form: { client_secret: CANARY },
} as const;

describe('nothing that hangs on the error of a failed request is a secret', () => {
  const failures: readonly [name: string, code: string, fail: (socket: Socket) => void][] = [
    ['reset before an answer', 'network', (socket) => socket.resetAndDestroy()],
    ['cut off in the body', 'network', (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n[')],
    [
      'answered with what was sent',
      '401',
      (socket) =>
        void socket.once('data', (sent) => {
          const body = JSON.stringify({ message: String(sent), error: String(sent), detail: String(sent) });
          socket.end(`HTTP/1.1 401 ${CANARY}\r\nx-echo: ${CANARY}\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
        }),
    ],
    [
      'redirected with it',
      '302',
      (socket) => socket.end(`HTTP/1.1 302 x\r\nlocation: /?${CANARY}\r\ncontent-length: 0\r\n\r\n`),
    ],
    [
      'answered with no JSON',
      'invalid',
      (socket) => socket.end(`HTTP/1.1 200 x\r\ncontent-length: 22\r\n\r\n${CANARY}`),
    ],
  ];

  test.each(failures)('%s', async (_, code, fail) => {
    const { server, failure } = await served(() => {});
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      socket.on('error', () => {});
      fail(socket);
    });
    const error = await failure(request);
    expect(error.code).toBe(code);
    expect([...textsOf(error)].filter((text) => text.includes(CANARY))).toEqual([]);
  });
});

/** Every text that can be reached from a value, by whatever property, hidden ones and causes included. */
function* textsOf(value: unknown, seen = new Set<unknown>()): Generator<string> {
  if (typeof value === 'string') yield value;
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || seen.has(value)) return;
  seen.add(value);
  if (Buffer.isBuffer(value)) yield value.toString('latin1');
  for (const key of Reflect.ownKeys(value)) {
    const property = Reflect.getOwnPropertyDescriptor(value, key);
    yield* textsOf(property?.value, seen);
  }
}

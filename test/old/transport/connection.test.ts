import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createBareServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/runtime/secret.ts';
import { createDispatcher, type HttpProxy as Way } from '../../src/transport/dispatcher.ts';
import type { ResponseLimits } from '../../src/transport/response-limits.ts';
import { servedPort } from '../support/listening.ts';
import { settle } from '../support/manual-clock.ts';
import { bench, listening, listing, onwards, served } from './polite.ts';

/** Turns the event loop until it is so; the machine's sockets are not moved by any clock of ours. */
async function until(so: () => boolean): Promise<void> {
  for (let turns = 0; !so(); turns += 1) {
    if (turns > 100_000) throw new Error('it never came to be');
    await settle();
  }
}

describe('on a real connection', () => {
  /** A request to a service that begins its response so, which the test goes on with. */
  async function requested(begin: (answer: ServerResponse) => void, limits?: Partial<ResponseLimits>) {
    let begun: (answer: ServerResponse) => void = () => {};
    const response = new Promise<ServerResponse>((resolve) => {
      begun = resolve;
    });
    const wires = await served((_, answer) => {
      begin(answer);
      begun(answer);
    }, limits);
    const stopping = new AbortController();
    const error = wires.failure({}, stopping.signal);
    return { ...wires, stopping, error, response: await response };
  }

  describe('whose TLS handshake hangs', () => {
    /** Somebody takes connections and says nothing on them. */
    async function mute() {
      const sockets: Socket[] = [];
      const port = await servedPort(createBareServer((socket) => sockets.push(socket)));
      const dispatcher = createDispatcher(undefined);
      onTestFinished(async () => {
        await dispatcher.destroy();
        for (const socket of sockets) socket.destroy();
      });
      return { ...bench(`https://127.0.0.1:${port}`, dispatcher), sockets };
    }

    test('a request ends with its time-out, however long the connection is tried', async () => {
      const { clock, ears, failure, sockets } = await mute();
      const error = failure();
      await until(() => sockets.length > 0);
      await clock.advance(30_000);
      await until(() => ears.inFlight === 0);
      expect(await error).toMatchObject({ code: 'timeout' });
    });

    test('a request ends with the program', async () => {
      const { ears, failure, sockets } = await mute();
      const stop = new AbortController();
      const error = failure({}, stop.signal);
      await until(() => sockets.length > 0);
      stop.abort();
      await until(() => ears.inFlight === 0);
      expect(await error).toMatchObject({ reason: 'aborted' });
    });
  });

  test('one byte a second is a time-out: the limit is for the whole answer', async () => {
    const { clock, ears, error, response } = await requested((answer) => answer.writeHead(200).flushHeaders());
    for (let second = 0; second < 29; second += 1) {
      response.write(' ');
      await clock.advance(1_000);
    }
    expect(ears.inFlight).toBe(1);
    await clock.advance(1_000);
    expect(await error).toMatchObject({
      code: 'timeout',
      message: 'GET /serials returned no complete response within 30000 ms',
    });
    expect(ears.ends).toEqual([{ operation: 'serials', code: 'timeout', seconds: 30 }]);
    await until(() => response.destroyed);
  });

  test('the body of an error that does not end is not waited for longer than the time-out', async () => {
    const { clock, ears, error } = await requested((answer) => answer.writeHead(503).write('{"message":'));
    await clock.advance(30_000);
    await error;
    expect([ears.ends.length, ears.inFlight, clock.sleeping]).toEqual([1, 0, 0]);
  });

  test('a body without end is abandoned as soon as it is too large', async () => {
    const { error, response } = await requested(
      (answer) => {
        const more = () => void (answer.writable && answer.write(Buffer.alloc(16_384, ' '), more));
        answer.writeHead(200);
        more();
      },
      { bytes: 100_000 },
    );
    expect((await error).code).toBe('oversize');
    await until(() => response.destroyed);
  });

  test('stopping while the body arrives closes the connection', async () => {
    const { ears, error, response, stopping } = await requested((answer) => answer.writeHead(200).write('['));
    stopping.abort();
    expect((await error).code).toBe('aborted');
    expect([ears.codes, ears.inFlight]).toEqual([['aborted'], 0]);
    await until(() => response.destroyed);
  });

  test('two connections serve request after request', async () => {
    const sockets = new Set<Socket>();
    const { client } = await served((asked, response) => {
      sockets.add(asked.socket);
      response.end('[]');
    });
    for (let asked = 0; asked < 20; asked += 1) await client.send(listing, onwards);
    expect(sockets.size).toBeLessThanOrEqual(2);
  });
});

describe('through a proxy', () => {
  /** A client of a service that is reached through this proxy. */
  function behind(proxy: Partial<Way> & Pick<Way, 'url'>, service = 'https://filers.invalid') {
    const dispatcher = createDispatcher({ authorization: undefined, timeoutMs: 30_000, ...proxy });
    onTestFinished(() => dispatcher.destroy());
    return bench(service, dispatcher);
  }

  test.each([
    ['with the credentials of the proxy', Secret.of('Basic VE9LRU46'), 'Basic VE9LRU46'],
    ['without any where it has none', undefined, undefined],
  ])('a plain request is passed on %s', async (_, authorization, told) => {
    const passedOn: string[] = [];
    const server = createServer((asked, response) => {
      passedOn.push(`${asked.method} ${asked.url} ${asked.headers['proxy-authorization']}`);
      response.end('[]');
    });
    const { client } = behind({ url: await listening(server), authorization }, 'http://filers.invalid');
    expect(await client.send(listing, onwards)).toEqual([]);
    expect(passedOn).toEqual([`GET http://filers.invalid/serials ${told}`]);
  });

  test('a tunnel is asked for with its credentials too', async () => {
    const server = createServer();
    const asked = once(server, 'connect');
    server.on('connect', (_, socket: Socket) => {
      socket.on('error', () => {}).end('HTTP/1.1 407 Who are you\r\n\r\n');
    });
    const authorization = Secret.of('Basic VE9LRU46');
    const { failure } = behind({ url: await listening(server), authorization });
    expect((await failure()).message).toBe('GET /serials got no response: the proxy returned 407');
    const [{ url, headers }] = (await asked) as [IncomingMessage];
    expect([url, headers['proxy-authorization']]).toEqual(['filers.invalid:443', 'Basic VE9LRU46']);
  });

  test('[proxies] a tunnel that is never opened is let go after the time that a request may take', async () => {
    const server = createServer();
    const letGo = new Promise<void>((resolve) => {
      server.on('connect', (_, socket: Socket) => {
        for (const event of ['end', 'close', 'error']) socket.on(event, () => resolve());
        socket.resume();
      });
    });
    // The clock of the client stands still: it is the tunnel that gives up here, and not the request.
    const { failure } = behind({ url: await listening(server), timeoutMs: 50 });
    expect((await failure()).message).toBe(
      'GET /serials got no response: the proxy opened no tunnel in time (UND_ERR_HEADERS_TIMEOUT)',
    );
    await letGo;
  });

  test('one that is not there is told apart from a service that is not', async () => {
    const server = createServer();
    const url = await listening(server);
    server.close();
    await once(server, 'close');
    const { failure } = behind({ url });
    expect((await failure()).message).toBe('GET /serials got no response: the proxy cannot be reached (ECONNREFUSED)');
  });
});

// undici 7.28.0 to 7.30.2 throws where nobody can catch it, which would end the process.
test('a large response arrives whole, though its server closes the connection while it is read slowly', async () => {
  const size = 262_144;
  const server = createBareServer((socket) => {
    socket.once('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`);
      socket.end(Buffer.alloc(size));
    });
  });
  const origin = `http://127.0.0.1:${await servedPort(server)}`;
  const dispatcher = createDispatcher(undefined);
  onTestFinished(() => dispatcher.destroy());
  for (let times = 0; times < 5; times += 1) {
    const { body } = await dispatcher.request({ origin, path: '/', method: 'GET' });
    let bytes = 0;
    await sleep(20);
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      // The socket has to end while the reader is behind.
      await sleep(5);
    }
    expect(bytes).toBe(size);
  }
});

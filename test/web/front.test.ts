// Only here: who is let in, in which order, while passwords are being checked.
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { connect as connectSecurely } from 'node:tls';
import { getRounds } from 'bcryptjs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebFront } from '../../src/web/front.ts';
import { Passwords } from '../../src/web/passwords.ts';
import { readWebRules, type WebRules } from '../../src/web/rules.ts';
import { serve } from '../http/serving.ts';
import { Lines } from '../polling/fleet.ts';
import { ManualClock, settle } from '../support/manual-clock.ts';
import { temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { GEHEIM } from './asking.ts';
import { hasTlsClients, makePair, type Pair } from './certificates.ts';

const NOTHING_OPEN = { paths: new Set<string>(), withoutCertificate: false };

const outside = () => ({ clock: new ManualClock(), log: new Lines() });

async function rulesOf(text: string, folder = temporaryDirectory()): Promise<WebRules> {
  const path = join(folder, 'web.yml');
  await writeFile(path, text);
  const reading = await readWebRules(path, (each) => readFile(each, 'utf8'));
  if (reading.state === 'bad') throw new Error(reading.faults.join('; '));
  return reading.rules;
}

/** A front whose checks of passwords end one by one, when told: right is `geheim`. */
async function frontOfUsers() {
  const begun: string[] = [];
  const costs: number[] = [];
  const ends: (() => void)[] = [];
  const compare = (password: string, hash: string) =>
    new Promise<boolean>((resolve) => {
      begun.push(password);
      costs.push(getRounds(hash));
      ends.push(() => resolve(password === 'geheim'));
    });
  const rules = await rulesOf(`basic_auth_users:\n  me: ${GEHEIM}\n`);
  const front = new WebFront(rules, new Passwords(compare, Buffer.alloc(32, 1)), NOTHING_OPEN, outside());
  const end = async () => {
    await settle();
    ends.shift()?.();
    await settle();
  };
  const ask = (password: string, remoteAddress: string, user = 'me') => {
    const socket = { remoteAddress, destroyed: false };
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    const request = { headers: { authorization }, socket } as unknown as IncomingMessage;
    return { socket, admitted: Promise.resolve(front.admit(request, '/metrics')) };
  };
  return { begun, costs, end, ask };
}

describe('passwords that are to be checked', () => {
  test('delay a scraper by four checks at most, for any number of requests from another address', async () => {
    const { begun, end, ask } = await frontOfUsers();
    const guesses = Array.from({ length: 50 }, (_, guess) => ask(`guess ${guess}`, '192.0.2.66'));
    const scraper = ask('geheim', '192.0.2.1');
    for (let ended = 0; ended < 5; ended += 1) await end();
    expect(begun).toEqual(['guess 0', 'guess 1', 'guess 2', 'guess 3', 'geheim']);
    expect(await scraper.admitted).toBe('let in');
    const busy = { status: 503, headers: { 'retry-after': '1' } };
    expect(await guesses.at(-1)?.admitted).toMatchObject(busy);
  });

  test('cost a stranger the same check as a user, and bring the same answer', async () => {
    const { costs, end, ask } = await frontOfUsers();
    const [known, unknown] = ['me', 'stranger'].map((user) => ask('guess', '192.0.2.1', user));
    await end();
    await end();
    expect(costs).toEqual([4, 4]);
    expect(await known?.admitted).toMatchObject({ status: 401 });
    expect(await unknown?.admitted).toEqual(await known?.admitted);
  });
});

/** A way to a server on which what a client says after its first words waits until the way is opened. */
async function stallingWay(port: number) {
  let open = () => {};
  const relay = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => {});
      one.once('close', () => other.destroy());
    }
    server.pipe(client);
    client.once('data', (hello) => {
      server.write(hello);
      client.pause();
      open = () => void client.pipe(server);
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void relay.close());
  return { port: (relay.address() as AddressInfo).port, open: () => open() };
}

describe.runIf(hasTlsClients)('a handshake that is stalled while an authority is replaced', () => {
  function parties() {
    const folder = temporaryDirectory();
    const authority = makePair(folder, 'authority', { authority: true });
    makePair(folder, 'another', { authority: true });
    makePair(folder, 'server', { names: 'IP:127.0.0.1', by: authority });
    const trusting = (name: string) => {
      const tls = ['cert_file: server.crt', 'key_file: server.key', `client_ca_file: ${name}.crt`];
      tls.push('client_auth_type: RequireAndVerifyClientCert');
      return rulesOf(`tls_server_config:\n${tls.map((line) => `  ${line}\n`).join('')}`, folder);
    };
    return { authority, client: makePair(folder, 'client', { by: authority }), trusting };
  }

  /** What a client hears whose handshake waits until `meanwhile` has been done. */
  async function heardAfter(front: WebFront, authority: Pair, client: Pair, meanwhile: () => void): Promise<string> {
    const { port } = await serve({}, { front });
    const way = await stallingWay(port);
    const [cert, key] = [client.certText, client.keyText];
    const socket = connectSecurely({ host: '127.0.0.1', port: way.port, ca: authority.certText, cert, key });
    onTestFinished(() => void socket.destroy());
    const heard = { text: '', closed: false };
    socket.on('error', () => {});
    socket.on('close', () => {
      heard.closed = true;
    });
    socket.setEncoding('utf8').on('data', (text: string) => {
      heard.text += text;
    });
    // In TLS 1.3 it is over for the client with the certificate that it sends, and that waits on the way.
    await new Promise((resolve) => socket.once('secureConnect', resolve));
    meanwhile();
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    way.open();
    await until('an answer or the end', () => heard.text !== '' || heard.closed);
    return heard.text;
  }

  test('rejects every request', async () => {
    const { authority, client, trusting } = parties();
    const passwords = new Passwords(() => Promise.resolve(false), Buffer.alloc(32, 1));
    const front = new WebFront(await trusting('authority'), passwords, NOTHING_OPEN, outside());
    expect(await heardAfter(front, authority, client, () => {})).toMatch(/^HTTP\/1\.1 200 /);
    const rules = await trusting('another');
    expect(await heardAfter(front, authority, client, () => front.adopt(rules))).toBe('');
  });
});

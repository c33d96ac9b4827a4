// Only here: who is admitted while the rules change, and what a response says about users.
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { connect as connectSecurely } from 'node:tls';
import { getRounds } from 'bcryptjs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebAccessControl } from '../../src/web/access-control.ts';
import { PasswordChecker } from '../../src/web/password-checker.ts';
import { readWebRules, type WebRules } from '../../src/web/web-config.ts';
import { serve } from '../http/serving.ts';
import { Lines } from '../polling/fleet.ts';
import { servedPort } from '../support/listening.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { GEHEIM } from './asking.ts';
import { hasTlsClients, makePair, type Pair } from './certificates.ts';

async function rulesOf(text: string, folder = temporaryDirectory()): Promise<WebRules> {
  const path = join(folder, 'web.yml');
  await writeFile(path, text);
  const result = await readWebRules(path, (each) => readFile(each, 'utf8'));
  if (result.state === 'invalid') throw new Error(result.errors.join('; '));
  return result.rules;
}

/** Access control by these rules; right is `geheim`, and each comparison is noted with its cost. */
function controlled(rules: WebRules) {
  const costs: number[] = [];
  const compare = async (password: string, hash: string) => {
    costs.push(getRounds(hash));
    return password === 'geheim';
  };
  const clock = new ManualClock();
  const control = new WebAccessControl(rules, {
    passwords: new PasswordChecker(compare, Buffer.alloc(32, 1), clock),
    unauthenticated: { paths: new Set<string>(), withoutCertificate: false },
    clock,
    log: new Lines(),
  });
  return { control, costs };
}

test('[known-users] a wrong password costs a stranger the same check as a user, and brings the same response', async () => {
  const { control, costs } = controlled(await rulesOf(`basic_auth_users:\n  me: ${GEHEIM}\n`));
  const { ask } = await serve({}, { accessControl: control });
  const [known, unknown] = await Promise.all(
    ['me', 'stranger'].map((user) =>
      ask('/metrics', { authorization: `Basic ${Buffer.from(`${user}:guess`).toString('base64')}` }),
    ),
  );
  expect(costs).toEqual([4, 4]);
  expect(known?.status).toBe(401);
  expect([unknown?.status, unknown?.body]).toEqual([known?.status, known?.body]);
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
  return { port: await servedPort(relay), open: () => open() };
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

  /** What a client hears whose handshake waits until the rules have changed. */
  async function heardAfter(before: WebRules, after: WebRules, authority: Pair, client: Pair): Promise<string> {
    const { control } = controlled(before);
    const { port, connections } = await serve({}, { accessControl: control });
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
    if (after !== before) {
      control.adopt(after);
      connections.destroyWaiting();
    }
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    way.open();
    await until('an answer or the end', () => heard.text !== '' || heard.closed);
    return heard.text;
  }

  test('[stalled-handshake] rejects every request', async () => {
    const { authority, client, trusting } = parties();
    const rules = await trusting('authority');
    expect(await heardAfter(rules, rules, authority, client)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await heardAfter(rules, await trusting('another'), authority, client)).toBe('');
  });
});

// Only here: connections that are kept open by saying nothing.
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { curl, guarded, guardedHere } from './asking.ts';
import { hasTlsClients, makePair } from './certificates.ts';

/** A connection by hand, with all that came on it. */
function opened(address: string) {
  const [host = '', port = ''] = address.split(':');
  return heardOn(connect(Number(port), host));
}

/** The same with TLS, once the handshake is over. */
async function secured(address: string) {
  const [host = '', port = ''] = address.split(':');
  const socket = connectSecurely({ host, port: Number(port), rejectUnauthorized: false });
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  return heardOn(socket);
}

function heardOn(socket: Socket) {
  onTestFinished(() => void socket.destroy());
  const heard = { text: '', closed: false };
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard.text += text;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    heard.closed = true;
  });
  return { socket, heard };
}

const NOTHING = '{}';

/** How a client begins a handshake: a record of 16 KiB, of which each further byte may take its time. */
const BEGUN = Buffer.from([0x16, 0x03, 0x01, 0x40, 0x00, 0x01, 0x00, 0x3f, 0xfc, 0x03, 0x03]);

describe('clients that take their time or take too much', () => {
  test('[slow-headers] are cut off: who says nothing, who never ends a header, who never ends a body', async () => {
    const { address } = await guardedHere(NOTHING);
    const [silent, endless, bodily] = [opened(address), opened(address), opened(address)];
    endless.socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\nX-A: ');
    bodily.socket.write('POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc');
    await until('all of them to be closed', () => [silent, endless, bodily].every(({ heard }) => heard.closed));
    expect([silent.heard.text, endless.heard.text]).toEqual(['', '']);
    expect(bodily.heard.text).toMatch(/^HTTP\/1\.1 405 /);
  });

  test.runIf(hasTlsClients)(
    'are cut off with TLS too: in the handshake, be they silent or slow, and after it',
    async () => {
      const folder = temporaryDirectory();
      makePair(folder, 'server', { names: 'IP:127.0.0.1' });
      const text = 'tls_server_config: { cert_file: server.crt, key_file: server.key }\n';
      const { address } = await guardedHere(text, folder);
      const [silent, slow] = [opened(address), opened(address)];
      slow.socket.write(BEGUN);
      const more = setInterval(() => slow.socket.write('a'), 1_000);
      onTestFinished(() => clearInterval(more));
      const [speechless, endless] = [await secured(address), await secured(address)];
      endless.socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\nX-A: ');
      const all = [silent, slow, speechless, endless];
      await until('all of them to be closed', () => all.every(({ heard }) => heard.closed));
    },
  );

  test('[endless-bodies] cannot go on with a body once they have a response', async () => {
    const { address } = await guardedHere(NOTHING);
    const { socket, heard } = opened(address);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = `4000\r\n${'a'.repeat(0x4000)}\r\n`;
    for (let sent = 0; sent < 64; sent += 1) socket.write(chunk);
    await until('it to be closed', () => heard.closed);
  });

  test.runIf(hasTlsClients)('do not hold up a stop, in the middle of a handshake or of a request', async () => {
    const folder = temporaryDirectory();
    makePair(folder, 'server', { names: 'IP:127.0.0.1' });
    const text = 'tls_server_config: { cert_file: server.crt, key_file: server.key }\n';
    const { address, program } = await guarded(text, folder, { SHUTDOWN_TIMEOUT: '1h' });
    const { socket } = opened(address);
    await new Promise((resolve) => socket.once('connect', resolve));
    const begun = await secured(address);
    begun.socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\nX-A: ');
    expect((await curl(`https://${address}/healthz`, '-k')).status).toBe(200);
    program.kill('SIGTERM');
    const { code } = await program.ended;
    expect(code).toBe(0);
    await until('the connection to be cut', () => begun.heard.closed);
    expect(begun.heard.text).toBe('');
  });
});

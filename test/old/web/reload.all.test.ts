// Only here: a new certificate that a running exporter does not serve, or an old rule that admits clients.
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isAtLeast, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { curl, guardedHere } from './asking.ts';
import { hasTlsClients, makePair } from './certificates.ts';

const TLS = 'tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n';

describe.runIf(hasTlsClients)('certificates that are renewed', () => {
  function authorities() {
    const folder = temporaryDirectory();
    const authority = makePair(folder, 'authority', { authority: true });
    const named = { names: 'DNS:localhost,IP:127.0.0.1', by: authority };
    makePair(folder, 'server', named);
    return { folder, authority, named };
  }

  test('are served within seconds, and end connections on which nothing was requested', async () => {
    const { folder, authority, named } = authorities();
    const { address, log } = await guardedHere(TLS, folder);
    const [host = '', port = ''] = address.split(':');
    const serialOf = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ host, port: Number(port), ca: authority.certText }, () => {
          resolve(socket.getPeerCertificate().serialNumber);
          socket.destroy();
        });
        socket.on('error', reject);
      });
    const before = await serialOf();
    const fresh = makePair(folder, 'fresh', { ...named, days: 30 });
    // The certificate first, as any tool writes them: between the two they do not fit, which is nobody's alarm.
    copyFileSync(fresh.cert, join(folder, 'server.crt'));
    copyFileSync(fresh.key, join(folder, 'server.key'));
    await until('the new certificate', async () => {
      const held = connect({ host, port: Number(port), ca: authority.certText });
      onTestFinished(() => void held.destroy());
      await new Promise((resolve) => held.once('secureConnect', resolve));
      const closed = new Promise((resolve) => held.resume().once('close', resolve));
      if ((await serialOf()) === before) return false;
      await closed;
      return true;
    });
    expect(log.filter(({ level }) => isAtLeast(level, 'error'))).toEqual([]);
    const scraped = await curl(`https://${address}/metrics`, '--cacert', authority.cert);
    const [, expiry] = /^filer_exporter_web_certificate_expiry_timestamp_seconds (\S+)$/m.exec(scraped.text) ?? [];
    expect(Number(expiry) - Date.now() / 1000).toBeGreaterThan(29 * 86_400);
  });

  test('TLS may be switched on while it runs', async () => {
    const { folder, authority } = authorities();
    const { address, write } = await guardedHere('{}', folder);
    expect((await curl(`http://${address}/healthz`)).status).toBe(200);
    write(TLS);
    await until(
      'TLS',
      async () => (await curl(`https://${address}/healthz`, '--cacert', authority.cert)).status === 200,
    );
    expect((await curl(`http://${address}/healthz`)).status).toBe(0);
  });

  test('a certificate of an authority that was removed from the file is rejected', async () => {
    const { folder, authority } = authorities();
    makePair(folder, 'other', { authority: true });
    const client = makePair(folder, 'client', { by: authority });
    const asking = (ca: string) =>
      `${TLS}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ${ca}.crt\n`;
    const { address, write } = await guardedHere(asking('authority'), folder);
    const ask = () =>
      curl(`https://${address}/healthz`, '--cacert', authority.cert, '--cert', client.cert, '--key', client.key);
    expect((await ask()).status).toBe(200);
    write(asking('other'));
    await until('the client to be out', async () => (await ask()).status === 0);
  });
});

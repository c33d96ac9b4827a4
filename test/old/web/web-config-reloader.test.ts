// Only here: a file that is seen half written, or a change that is missed.
import { describe, expect, test } from 'vitest';
import { readWebRules, type WebRules } from '../../src/web/web-config.ts';
import { WebConfigReloader } from '../../src/web/web-config-reloader.ts';
import { Lines } from '../polling/fleet.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { temporaryDirectory } from '../support/program.ts';
import { GEHEIM } from './asking.ts';
import { hasTlsClients, makePair } from './certificates.ts';

const good = `basic_auth_users:\n  me: ${GEHEIM}\n`;

/** A web configuration that is looked at every two seconds of a clock that is moved by hand. */
async function watched(initially: Readonly<Record<string, string>> = { '/etc/web.yml': good }) {
  const files: Record<string, string> = { ...initially };
  const read = (path: string) =>
    files[path] === undefined
      ? Promise.reject(Object.assign(new Error(path), { code: 'ENOENT' }))
      : Promise.resolve(files[path]);
  const clock = new ManualClock();
  const lines = new Lines();
  const adopted: WebRules[] = [];
  const first = await readWebRules('/etc/web.yml', read);
  if (first.state === 'invalid') throw new Error(first.errors.join());
  const adopt = async (rules: WebRules) => void adopted.push(rules);
  const reloading = new WebConfigReloader({ path: '/etc/web.yml', read, first, adopt, clock, log: lines });
  const stopping = new AbortController();
  const ended = reloading.run(stopping.signal);
  const stop = () => {
    stopping.abort();
    return ended;
  };
  return { files, clock, lines, adopted, reloading, stop };
}

describe('what protects never becomes less while it runs', () => {
  const TLS = 'tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n';
  const CLIENTS = '  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: clients.crt\n';
  const NAMES = '  client_allowed_sans: [prometheus.example.com]\n';
  const whole = `${TLS}${CLIENTS}${NAMES}${good}`;

  function pairs() {
    const folder = temporaryDirectory();
    const authority = makePair(folder, 'clients', { authority: true });
    const server = makePair(folder, 'server');
    return {
      '/etc/server.crt': server.certText,
      '/etc/server.key': server.keyText,
      '/etc/clients.crt': authority.certText,
    };
  }

  test.runIf(hasTlsClients).each([
    ['TLS', good, ['TLS', 'client certificates', 'the check of client certificates', 'the allowed names of clients']],
    [
      'client certificates',
      `${TLS}${good}`,
      ['client certificates', 'the check of client certificates', 'the allowed names of clients'],
    ],
    [
      'the check of client certificates',
      `${TLS}  client_auth_type: RequireAnyClientCert\n${NAMES}${good}`.replace(CLIENTS, ''),
      ['the check of client certificates'],
    ],
    ['the allowed names', `${TLS}${CLIENTS}${good}`, ['the allowed names of clients']],
    ['all users', `${TLS}${CLIENTS}${NAMES}`, ['passwords']],
  ])('a file that drops %s is refused: the last good state counts until a restart', async (_, text, lost) => {
    const { files, clock, lines, adopted, reloading, stop } = await watched({ '/etc/web.yml': whole, ...pairs() });
    files['/etc/web.yml'] = text;
    await clock.advance(60_000);
    const [told] = lines.all;
    expect(lines.take()).toEqual(['error web configuration rejected; keeping the previous one']);
    const errors = lost.map(
      (name) => `the file removes ${name}; a reload never removes protection: restart the exporter to remove it`,
    );
    expect(told?.fields).toMatchObject({ errors });
    expect([adopted, reloading.status.isGood]).toEqual([[], false]);
    expect(reloading.status).toMatchObject({ hasTls: true, hasAuth: true });
    files['/etc/web.yml'] = whole;
    await clock.advance(2_000);
    expect([adopted, reloading.status.isGood]).toEqual([[], true]);
    await stop();
  });

  test.runIf(hasTlsClients)('wherever the file is cut off, what it asked for is asked for still', async () => {
    const { files, clock, adopted, stop } = await watched({ '/etc/web.yml': whole, ...pairs() });
    for (let length = 0; length < whole.length; length += 1) {
      files['/etc/web.yml'] = whole.slice(0, length);
      await clock.advance(6_000);
    }
    for (const { tls, users } of adopted) {
      expect([tls?.client.required, tls?.client.verified, tls?.allowedNames?.size, [...users.keys()]]).toEqual([
        true,
        true,
        1,
        ['me'],
      ]);
    }
    await stop();
  });

  test('a user may be taken out and another put in, and protection may be added', async () => {
    const { files, clock, adopted, reloading, stop } = await watched({ '/etc/web.yml': '{}\n' });
    expect(reloading.status).toMatchObject({ hasTls: false, hasAuth: false });
    files['/etc/web.yml'] = good;
    await clock.advance(4_000);
    files['/etc/web.yml'] = good.replace('me', 'you');
    await clock.advance(4_000);
    expect(adopted.map(({ users }) => [...users.keys()])).toEqual([['me'], ['you']]);
    expect(reloading.status).toMatchObject({ isGood: true, hasTls: false, hasAuth: true });
    await stop();
  });

  test('what is being written counts only once two looks have seen the same', async () => {
    const { files, clock, adopted, lines, stop } = await watched({ '/etc/web.yml': '{}\n' });
    for (let users = 1; users <= 5; users += 1) {
      files['/etc/web.yml'] = `basic_auth_users:\n${`  user${users}: ${GEHEIM}\n`}`;
      await clock.advance(2_000);
    }
    expect([adopted, lines.take()]).toEqual([[], []]);
    await clock.advance(2_000);
    expect(adopted.map(({ users }) => [...users.keys()])).toEqual([['user5']]);
    await stop();
  });
});

describe('the files are looked at every two seconds', () => {
  test.runIf(hasTlsClients)(
    '[half-renewed-pair] and so are those that they name: a certificate is seen that has changed alone',
    async () => {
      const folder = temporaryDirectory();
      const [old, fresh] = [makePair(folder, 'old'), makePair(folder, 'fresh', { days: 30 })];
      const { files, clock, lines, adopted, reloading, stop } = await watched({
        '/etc/web.yml': 'tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n',
        '/etc/server.crt': old.certText,
        '/etc/server.key': old.keyText,
      });
      const before = reloading.status.expirySeconds ?? 0;
      files['/etc/server.crt'] = fresh.certText;
      await clock.advance(10_000);
      expect(lines.take()).toEqual(['error web configuration rejected; keeping the previous one']);
      files['/etc/server.key'] = fresh.keyText;
      await clock.advance(4_000);
      expect([adopted.length, reloading.status.isGood]).toEqual([1, true]);
      expect(reloading.status.expirySeconds).toBeGreaterThan(before + 27 * 86_400);
      await stop();
    },
  );

  test('and what they hold now counts', async () => {
    const { files, clock, lines, adopted, reloading, stop } = await watched();
    const before = reloading.status.lastSuccessSeconds;
    files['/etc/web.yml'] = good.replace('me', 'you');
    await clock.advance(2_000);
    expect([adopted, lines.take()]).toEqual([[], []]);
    await clock.advance(2_000);
    expect(adopted.map(({ users }) => [...users.keys()])).toEqual([['you']]);
    expect(lines.take()).toEqual(['info web configuration reloaded']);
    expect(reloading.status.lastSuccessSeconds).toBe(before + 4);
    await stop();
  });

  test('and what cannot be used is told once it has stood for two looks, and once only', async () => {
    const { files, clock, lines, adopted, reloading, stop } = await watched();
    files['/etc/web.yml'] = 'basic_auth_userz:\n';
    await clock.advance(2_000);
    expect([lines.take(), reloading.status.isGood]).toEqual([[], true]);
    await clock.advance(60_000);
    expect([lines.take(), reloading.status.isGood]).toEqual([
      ['error web configuration rejected; keeping the previous one'],
      false,
    ]);
    delete files['/etc/web.yml'];
    await clock.advance(2_000);
    expect(reloading.status.isGood).toBe(false);
    await clock.advance(2_000);
    expect(lines.take()).toEqual(['error web configuration rejected; keeping the previous one']);
    files['/etc/web.yml'] = good;
    await clock.advance(2_000);
    expect([lines.take(), reloading.status.isGood, adopted]).toEqual([
      ['info web configuration is valid again'],
      true,
      [],
    ]);
    await stop();
  });
});

import { expect, test } from 'vitest';
import { WebConfigFile, type WebRules } from '../../../src/web/web-config.ts';
import { WebConfigReloader } from '../../../src/web/web-config-reloader.ts';
import { certificateText } from '../../harness/certificates.ts';
import { keptLog } from '../../harness/kept-log.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

const USERS = 'basic_auth_users:\n  me: $2y$04$u5WNi2lYZIEEOYL/Sl9Ny.TlR2KlYwhu6qm.FHqnBvPinc9tALXS.\n';
const TLS = 'tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n';
const CLIENTS = '  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: authority.crt\n';
const NAMES = '  client_allowed_sans: [prometheus]\n';
const WHOLE = `${TLS}${CLIENTS}${NAMES}${USERS}`;

const REJECTED = 'The changed web configuration was rejected, and the previous one stayed in effect.';
const RELOADED = 'The web configuration was reloaded.';

/** A reloader that runs, with the files that it reads, what it logged and what it adopted. */
async function running(text: string) {
  const files: Record<string, string | undefined> = { '/etc/web.yml': text };
  for (const name of ['server.crt', 'server.key', 'authority.crt']) files[`/etc/${name}`] = certificateText(name);
  const read = async (path: string) => {
    const content = files[path];
    if (content === undefined) throw Object.assign(new Error(path), { code: 'ENOENT' });
    return content;
  };
  const clock = new ManualClock();
  const { log, lines } = keptLog();
  const adopted: WebRules[] = [];
  const file = new WebConfigFile('/etc/web.yml', read);
  const adopt = (rules: WebRules) => void adopted.push(rules);
  const reloader = new WebConfigReloader({ file, rules: await file.readRules(), adopt, clock, log });
  const stopping = new AbortController();
  const ended = reloader.run(stopping.signal);
  const write = async (content: string | undefined, ms = 2_000) => {
    files['/etc/web.yml'] = content;
    await clock.advance(ms);
  };
  const stop = () => {
    stopping.abort();
    return ended;
  };
  return { files, clock, lines, adopted, reloader, write, stop, messages: () => lines.map(({ msg }) => msg) };
}

test('changed content takes effect', async () => {
  const { adopted, write, messages, reloader, stop } = await running('{}\n');
  expect(reloader.status).toMatchObject({ isGood: true, hasTls: false, hasAuth: false });
  await write(USERS, 1_999);
  expect(adopted).toEqual([]);
  await write(USERS, 1);
  await write(USERS);
  expect(adopted.map(({ users }) => [...users.keys()])).toEqual([['me']]);
  expect(messages()).toEqual([RELOADED]);
  expect(reloader.status).toMatchObject({ isGood: true, hasTls: false, hasAuth: true });
  await stop();
});

test('a renewed certificate takes effect when its key has arrived too', async () => {
  const { files, clock, adopted, lines, reloader, stop } = await running(TLS);
  files['/etc/server.crt'] = certificateText('renewed.crt');
  await clock.advance(10_000);
  expect(lines).toMatchObject([{ msg: REJECTED, errors: [expect.stringContaining('key values mismatch')] }]);
  files['/etc/server.key'] = certificateText('renewed.key');
  await clock.advance(2_000);
  expect([adopted.length, reloader.status.isGood]).toEqual([1, true]);
  expect(reloader.status.expirySeconds).toBe(Date.UTC(2110, 0, 1) / 1000);
  await stop();
});

test.each([
  ['adds or removes TLS', USERS, WHOLE],
  ['adds or removes TLS', WHOLE, USERS],
  ['changes client_auth_type', WHOLE, `${TLS}${USERS}`],
  ['removes client_allowed_sans', WHOLE, `${TLS}${CLIENTS}${USERS}`],
  ['removes all users', WHOLE, `${TLS}${CLIENTS}${NAMES}`],
])('a file that %s is rejected, until the former one is back', async (change, before, after) => {
  const { adopted, write, lines, messages, reloader, stop } = await running(before);
  await write(after, 60_000);
  expect(lines[0]?.errors).toContain(`the file ${change}; restart the exporter to apply it`);
  expect([adopted, messages(), reloader.status.isGood]).toEqual([[], [REJECTED], false]);
  await write(before);
  expect([messages(), reloader.status.isGood]).toEqual([[REJECTED, RELOADED], true]);
  await stop();
});

test('wherever the file is cut off, and however it is broken, every protection stays', async () => {
  const { adopted, write, reloader, stop } = await running(WHOLE);
  const broken = [undefined, '', '{}\n', '\0'.repeat(WHOLE.length), WHOLE.replaceAll(/^/gm, '# ')];
  for (let length = 0; length < WHOLE.length; length += 3) broken.push(WHOLE.slice(0, length));
  for (const text of broken) await write(text);
  for (const { tls, users } of adopted) {
    expect([tls?.client.isVerified, tls?.allowedNames.length, users.size]).toEqual([true, 1, 1]);
  }
  expect(reloader.status).toMatchObject({ hasTls: true, hasAuth: true });
  await stop();
});

// Only here: what a file can do that somebody else has written.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { runHere } from '../support/command.ts';
import { isAtLeast, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { NOBODY } from '../web/asking.ts';
import { makePair } from '../web/certificates.ts';
import { battery } from './battery.ts';
import type { Row } from './row.ts';
import { PASSWORD, type Stage, WEB } from './stage.ts';

const WHOLE = WEB['tls, clients and users'];

/** Fails where anything is let in that has not both a certificate and the password. */
async function expectGuarded(stage: Stage): Promise<void> {
  const plain = `GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: ${PASSWORD.authorization}\r\n\r\n`;
  expect(await stage.say(plain, 100)).not.toContain('HTTP/1.1 200');
  await expect(stage.ask('/metrics', { headers: PASSWORD, isStranger: true })).rejects.toThrow();
  expect((await stage.ask('/metrics')).status).toBe(401);
  expect((await stage.ask('/metrics', { headers: PASSWORD })).status).toBe(200);
}

/** What a web configuration looks like that is cut off, emptied or half written. */
const BROKEN: readonly (readonly [name: string, text: string])[] = [
  ['emptied', ''],
  ['cut off before the clients', WHOLE.slice(0, WHOLE.indexOf('  client_auth_type'))],
  ['cut off before the users', WHOLE.slice(0, WHOLE.indexOf('basic_auth_users'))],
  ['cut off behind the users’ key', WHOLE.slice(0, WHOLE.indexOf('  me:'))],
  ['all lines commented out', WHOLE.replaceAll(/^/gm, '# ')],
  ['nothing said on purpose', '{}\n'],
  ['the users alone', WEB.users],
  ['full of zeros, as after a power cut', '\0'.repeat(WHOLE.length)],
];

/** What a broken file can do. */
const files: readonly Row[] = [
  {
    id: 'broken-web-file',
    tries: 'is WEB_CONFIG_FILE cut off, emptied, commented out, half written, while the process runs',
    holds: 'TLS, client certificates and passwords are asked for as before; one line in the log, and the metric is 0',
    setup: { web: 'tls, clients and users' },
    play: async (stage) => {
      const rejections = () => stage.program.log.filter(({ level }) => isAtLeast(level, 'error')).length;
      for (const [index, [name, text]] of BROKEN.entries()) {
        stage.writeWeb(text);
        await until(`a line about the file: ${name}`, () => rejections() > index);
        await expectGuarded(stage);
        const { text: metrics } = await stage.ask('/metrics', { headers: PASSWORD });
        expect(metrics, name).toContain('\nfiler_exporter_web_config_last_reload_successful 0\n');
        expect(metrics).toContain('\nfiler_exporter_web_tls_enabled 1\n');
        expect(metrics).toContain('\nfiler_exporter_web_auth_enabled 1\n');
      }
      expect(rejections()).toBe(BROKEN.length);
      stage.writeWeb(WHOLE);
      await until('the file to be good again', async () =>
        (await stage.ask('/metrics', { headers: PASSWORD })).text.includes('_last_reload_successful 1\n'),
      );
    },
  },
  {
    id: 'expired-certificate',
    tries: 'is a server certificate that has expired',
    holds: '--check-config and the start warn of it',
    needsCertificates: true,
    begin: async () => {
      const folder = temporaryDirectory();
      makePair(folder, 'server', { days: -1 });
      writeFileSync(join(folder, 'web.yml'), WEB.tls, { mode: 0o600 });
      const environment = { ...NOBODY, WEB_CONFIG_FILE: join(folder, 'web.yml') };
      const { code, stderr } = await runHere(['--check-config'], { environment });
      expect(code).toBe(0);
      expect(stderr).toMatch(
        /^warning: WEB_CONFIG_FILE: the server certificate expired on \S+; expected one valid now\n$/,
      );
    },
  },
];

battery('file', files);

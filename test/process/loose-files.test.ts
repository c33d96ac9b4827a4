import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { run, start, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';

const GFA_URL = 'http://127.0.0.1:9/v1';

describe('a file with a secret', () => {
  async function warnings(mode: number, folder = 'secrets') {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, folder));
    const path = join(directory, folder, 'token');
    writeFileSync(path, 'a-token\n');
    chmodSync(path, mode);
    const { code, stderr } = await run(['--check-config'], { environment: { GFA_URL, GFA_TOKEN_FILE: path } });
    expect(code).toBe(0);
    return stderr.replace(path, 'FILE');
  }

  test.each([0o400, 0o600, 0o440, 0o640])('with the mode %o is nobody else’s, and fine', async (mode) => {
    expect(await warnings(mode)).toBe('');
  });

  test('that everybody can read gets a warning', async () => {
    const line = 'warning: FILE can be read by everybody on this machine (mode 0644); expected 0640 or stricter\n';
    expect(await warnings(0o644)).toBe(line);
  });

  test('that others can change gets a warning', async () => {
    const line = 'warning: FILE can be changed by others than its owner (mode 0660); expected 0640 or stricter\n';
    expect(await warnings(0o660)).toBe(line);
  });

  test('that Kubernetes mounted as it does by default is fine: everybody there is the container', async () => {
    expect(await warnings(0o644, '..2026_11_20_22_00_00.123456789')).toBe('');
  });

  test('is found behind the links that Kubernetes makes', async () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, '..2026_11_20_22_00_00.123456789'));
    symlinkSync('..2026_11_20_22_00_00.123456789', join(directory, '..data'));
    symlinkSync('..data/token', join(directory, 'token'));
    writeFileSync(join(directory, '..data', 'token'), 'a-token\n', { mode: 0o644 });
    const environment = { GFA_URL, GFA_TOKEN_FILE: join(directory, 'token') };
    expect((await run(['--check-config'], { environment })).stderr).toBe('');
  });

  test('that is .env itself gets a warning too, where it sets a secret', async () => {
    const directory = temporaryDirectory();
    const warningsOf = async (mode: number, text: string) => {
      writeFileSync(join(directory, '.env'), text);
      chmodSync(join(directory, '.env'), mode);
      return (await run(['--check-config'], { directory, environment: { GFA_URL, GFA_TOKEN: 'a-token' } })).stderr;
    };
    const line = 'warning: .env can be read by everybody on this machine (mode 0644); expected 0640 or stricter\n';
    expect(await warningsOf(0o644, 'GFA_TOKEN=a-token\n')).toBe(line);
    expect(await warningsOf(0o640, 'GFA_TOKEN=a-token\n')).toBe('');
    expect(await warningsOf(0o644, 'GFA_INTERVAL=2m\n')).toBe('');
  });

  test('that is too open is told of in the log of a running exporter too, once, and it runs', async () => {
    const directory = temporaryDirectory();
    const [token, web] = [join(directory, 'token'), join(directory, 'web.yml')];
    writeFileSync(token, 'a-token\n');
    writeFileSync(web, '# nothing\n');
    for (const path of [token, web]) chmodSync(path, 0o666);
    const program = start([], { environment: { GFA_URL, GFA_TOKEN_FILE: token, WEB_CONFIG_FILE: web } });
    await program.serving();
    await until('both lines', () => program.log.filter(({ msg }) => msg.includes('too open')).length === 2);
    expect(program.log.filter(({ msg }) => msg.includes('too open')).map(({ level }) => level)).toEqual([40, 40]);
  });
});

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { certificatePath } from '../harness/certificates.ts';
import { realServices } from '../harness/real-services.ts';
import { spawnExporter } from '../harness/spawn-exporter.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { until } from '../harness/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const main = join(root, 'dist/main.js');
const GFA = { GFA_URL: 'https://gfa.example.com/v1', GFA_TOKEN: 'token-canary' };

test('an invalid configuration is exit 78 with a line for each error and no secret', async () => {
  const { code, stdout, stderr } = await spawnExporter(['--once'], {
    GFA_URL: 'https://gfa.example.com',
    GFA_TOKEN: 'canary\twith a tab',
    PORTAL_URL: 'https://user:canary@portal.example.com',
    PORTAL_USER_KEY: 'user-canary',
    STALE_AFTER: '1',
  }).ended;
  expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
  const names = stderr
    .trimEnd()
    .split('\n')
    .map((line) => line.split(':')[0]);
  expect(names).toEqual(['GFA_URL', 'GFA_TOKEN', 'PORTAL_URL', 'STALE_AFTER']);
  expect(stderr).not.toMatch(/canary|\n\s+at /);
});

test('--check-config prints the effective configuration with secrets masked', async () => {
  const { code, stdout, stderr } = await spawnExporter(['--check-config'], { ...GFA, LISTEN_ADDRESS: ':8' }).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('GFA_TOKEN=[redacted]\nGFA_CLIENT_KEY=filer-exporter\n');
  expect(stdout).toMatch(/\nLISTEN_ADDRESS=:8\n[\s\S]*\n# the configuration is valid\n$/);
});

test('--check-config names a placeholder, and a state file that is a folder', async () => {
  const { code, stderr } = await spawnExporter(['--check-config'], {
    ...GFA,
    GFA_TOKEN: 'replace-me',
    STATE_FILE: tmpdir(),
  }).ended;
  expect(code).toBe(78);
  expect(stderr).toMatch(/^GFA_TOKEN: is the placeholder of an example; expected /m);
  expect(stderr).toMatch(/^STATE_FILE: /m);
});

test('--check-config warns of a secret that everybody can read, and rejects a .env that everybody can write', async () => {
  const folder = temporaryDirectory();
  const env = { GFA_URL: GFA.GFA_URL, GFA_TOKEN_FILE: join(folder, 'token') };
  writeFileSync(env.GFA_TOKEN_FILE, 'token-canary', { mode: 0o644 });
  expect(await spawnExporter(['--check-config'], env, folder).ended).toMatchObject({
    code: 0,
    stderr: `warning: ${env.GFA_TOKEN_FILE} is world-readable (mode 0644); expected 0640 or stricter\n`,
  });
  writeFileSync(join(folder, '.env'), '');
  chmodSync(join(folder, '.env'), 0o666);
  const { code, stderr } = await spawnExporter(['--check-config'], env, folder).ended;
  expect(code).toBe(78);
  expect(stderr).toContain('.env: not used, because .env is writable by other users than its owner (mode 0666)');
});

test('-v prints version, revision, Node.js and platform', async () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  const { stdout } = await spawnExporter(['-v'], { FILER_EXPORTER_REVISION: 'abc123' }).ended;
  const { version: node, platform, arch } = process;
  expect(stdout).toBe(`filer-exporter ${version} (revision abc123, Node.js ${node}, ${platform}/${arch})\n`);
});

test.each([
  [['--verson'], "Unknown option '--verson'; --help lists the options"],
  [['--demo', '--once'], '--demo --once: only one of these options can be given'],
  [['--json'], '--json: can only be used with --doctor'],
])('%j is exit 78 and one line', async (args, line) => {
  expect(await spawnExporter(args, GFA).ended).toMatchObject({ code: 78, stdout: '', stderr: `${line}\n` });
});

test('--plan says whether a fleet fits, by its exit code too, and sends nothing', async () => {
  const fits = await spawnExporter(['--plan', '--appliances', '243']).ended;
  expect(fits).toMatchObject({ code: 0, stderr: '' });
  expect(fits.stdout).toContain('It fits.');
  expect(fits.stdout).toMatch(/Requests a day +98\d,\d{3}/);
  const tooLarge = await spawnExporter(['--plan', '--appliances', '244']).ended;
  expect(tooLarge.code).toBe(1);
  expect(tooLarge.stdout).toContain('It does not fit');
});

test('--once prints the exposition and nothing else on stdout, with a client key of its own', async () => {
  const { services, variables } = await realServices({ appliances: 2 });
  const { code, stdout } = await spawnExporter(['--once'], variables).ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^# HELP /);
  expect(stdout).toContain('filer_api_up{api="portal"} 1');
  expect(stdout).toMatch(/filer_appliance_up\{.*\} 1/);
  const [data] = services.requests(/^\/data/);
  expect(data?.headers['x-service-client-key']).not.toBe('filer-exporter');
});

test('--once is exit 1 if nothing could be polled', async () => {
  const { services, variables } = await realServices();
  services.fail({ status: 403 });
  expect((await spawnExporter(['--once'], variables).ended).code).toBe(1);
});

test('--doctor --demo finds nothing wrong, also with certificate authorities of its own', async () => {
  const env = { NODE_EXTRA_CA_CERTS: certificatePath('authority.crt') };
  const { code, stdout } = await spawnExporter(['--doctor', '--demo'], env).ended;
  expect(stdout).not.toMatch(/^ +failure/m);
  expect(code).toBe(0);
});

test.skipIf(!existsSync('/dev/full')).each([['--help'], ['--plan', '--appliances', '12'], ['--check-config']])(
  '%s to a full disk is exit 1, and says so',
  (...args) => {
    const command = `exec "${process.execPath}" "${main}" ${args.join(' ')} >/dev/full`;
    const { status, stderr } = spawnSync('sh', ['-c', command], {
      env: { ...process.env, ...GFA },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toContain('writing to standard output failed (ENOSPC)');
  },
);

test('--demo serves a live fleet without any configuration, and reads no .env', async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, '.env'), 'GFA_URL=https://real.example.com/v1\nGFA_TOKEN=real\n');
  const program = spawnExporter(['--demo'], {}, folder);
  const url = await program.serving();
  const scrape = async () => (await fetch(`${url}/metrics`)).text();
  await until('both services to be up', async () => (await scrape()).match(/^filer_api_up\{.*\} 1$/gm)?.length === 2);
  expect(await (await fetch(`${url}/status`)).text()).toContain('This is the demo.');
  program.process.kill('SIGTERM');
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
});

test('npm start and npm run demo become the exporter, so that a signal to npm reaches it', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const name of ['start', 'demo']) expect(scripts[name]).toMatch(/(?:^| && )exec node dist\/main\.js/);
});

import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { Writable } from 'node:stream';
import { expect, test } from 'vitest';
import { variableRows } from '../../../src/catalog.ts';
import { logDestination } from '../../../src/cli/output.ts';
import { run } from '../../../src/cli/run.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { smallFileReader } from '../../../src/runtime/small-files.ts';
import { gfaOnly, type Variables } from '../../harness/load-config.ts';
import { temporaryDirectory } from '../../harness/temporary-directory.ts';

class Kept extends Writable {
  text = '';
  override _write(text: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += text;
    done();
  }
}

/** What a command prints, and its exit code, in a folder without `.env`. */
async function ran(args: readonly string[], variables: Variables = {}) {
  const [stdout, stderr] = [new Kept(), new Kept()];
  const readAny = smallFileReader(systemClock, 1024 * 1024);
  const readFile = (path: string) => readAny(path === '.env' ? join(tmpdir(), 'no.env') : path);
  const code = await run(args, { variables, readFile, stdout, stderr, stopped: new Promise(() => {}) });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

test.each([
  [['--verson'], "Unknown option '--verson'; --help lists the options"],
  [['--demo', '--once'], '--demo --once: only one of these options can be given'],
  [['--json'], '--json: can only be used with --doctor'],
  [['--once', '--trouble'], '--trouble: can only be used with --demo'],
  [['--plan', '--appliances', '0'], '--appliances: 0 is not a number of appliances; expected 1 to 9999999'],
  [['--plan'], '--plan: PORTAL_URL is not set; configure the service, or give a number with --appliances'],
])('%j is exit 78 and one line', async (args, line) => {
  expect(await ran(args, gfaOnly)).toEqual({ code: 78, stdout: '', stderr: `${line}\n` });
});

test('an invalid configuration is exit 78 with a line for each error and no secret', async () => {
  const { code, stdout, stderr } = await ran(['--once'], {
    GFA_URL: 'https://gfa.example.com',
    GFA_TOKEN: 'canary\twith a tab',
    PORTAL_URL: 'https://user:canary@portal.example.com',
    PORTAL_USER_KEY: 'user-canary',
    STALE_AFTER: '1',
  });
  expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
  const lines = stderr.trimEnd().split('\n');
  expect(lines.map((line) => line.split(':')[0])).toEqual(['GFA_URL', 'GFA_TOKEN', 'PORTAL_URL', 'STALE_AFTER']);
  expect(stderr).not.toMatch(/canary|\n\s+at /);
});

test('--check-config prints the effective configuration with secrets masked, and of an API that is off only that', async () => {
  const { code, stdout, stderr } = await ran(['--check-config'], { ...gfaOnly, LISTEN_ADDRESS: ':8' });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^GFA_URL=.*\nGFA_TOKEN=\[redacted\]\n[\s\S]*\nPORTAL_URL=\nREQUEST_TIMEOUT=30s\n/);
  expect(stdout).toMatch(/\nLISTEN_ADDRESS=:8\n[\s\S]*\n# the configuration is valid\n$/);
});

test('--check-config names a placeholder, and a state file that is a folder', async () => {
  const { code, stderr } = await ran(['--check-config'], {
    ...gfaOnly,
    GFA_TOKEN: 'replace-me',
    STATE_FILE: tmpdir(),
  });
  expect(code).toBe(78);
  expect(stderr).toMatch(/^GFA_TOKEN: is the placeholder of an example; expected /);
  expect(stderr).toMatch(/^STATE_FILE: /m);
});

test('a file with a secret that everybody can read is a warning', async () => {
  const { GFA_TOKEN, ...others } = gfaOnly;
  const file = join(temporaryDirectory(), 'token');
  writeFileSync(file, GFA_TOKEN, { mode: 0o644 });
  expect(await ran(['--check-config'], { ...others, GFA_TOKEN_FILE: file })).toMatchObject({
    code: 0,
    stderr: `warning: ${file} is world-readable (mode 0644); expected 0640 or stricter\n`,
  });
});

test('--version prints version, revision, Node.js and platform', async () => {
  const { code, stdout } = await ran(['--version']);
  const { version, platform, arch } = process;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^filer-exporter \d+\.\d+\.\d+ \(revision \S+, /);
  expect(stdout).toContain(`, Node.js ${version}, ${platform}/${arch})\n`);
});

test('log lines are pretty and coloured on a terminal, and JSON elsewhere', async () => {
  const [terminal, file] = [Object.assign(new Kept(), { isTTY: true }), new Kept()];
  for (const out of [terminal, file]) {
    const destination = await logDestination({ format: 'auto', level: 'info' }, out);
    destination.write('{"level":"info","msg":"The service came up."}\n');
  }
  expect(terminal.text).toContain('\u001B[36mThe service came up.\u001B[39m');
  expect(JSON.parse(file.text)).toMatchObject({ msg: 'The service came up.' });
});

test('--plan says whether a fleet fits, by its exit code too', async () => {
  const fits = await ran(['--plan', '--appliances', '243']);
  expect(fits).toMatchObject({ code: 0, stderr: '' });
  expect(fits.stdout).toMatch(/Requests a day +98\d,\d{3}\n[\s\S]*\n\nIt fits\.\n$/);
  const tooLarge = await ran(['--plan', '--appliances', '244']);
  expect(tooLarge.code).toBe(1);
  expect(tooLarge.stdout).toMatch(/\n\nIt does not fit: data would be polled every 5m1s instead of every 5m\./);
  expect(tooLarge.stdout).toMatch(/ {2}- a longer PORTAL_INTERVAL: 6m\n/);
  expect(await ran(['--plan', '--appliances', '244'], { PORTAL_INTERVAL: '6m' })).toMatchObject({ code: 0 });
  expect(tooLarge.stdout).toMatch(/ {2}- fewer series in PORTAL_SERIES: 13 instead of 14, .*\n/);
  expect(tooLarge.stdout).toMatch(/ {2}- fewer appliances in PORTAL_SERIALS: 243 instead of 244\n/);
  const one = await ran(['--plan', '--appliances', '1'], { PORTAL_RATE_LIMIT: '1/1h' });
  expect(one.stdout).toMatch(
    / {2}1 request every 1h\n[\s\S]* {2}- a longer PORTAL_INTERVAL: .*\n {2}- higher limits of the account.*\n$/,
  );
});

test('--help names the exit codes and has name, type and meaning of every variable, and fits a terminal', async () => {
  const { code, stdout } = await ran(['--help']);
  expect(code).toBe(0);
  expect(stdout.match(/(?:exit|or) \d+/g)?.join()).toBe('exit 0,or 1,exit 0,or 78,exit 0,or 1,exit 0,or 1');
  const lines = stdout.split('\n');
  for (const { name, row } of variableRows) {
    const place = lines.findIndex((line) => line.startsWith(`  ${name} `));
    expect(lines[place]).toContain(row.format.label);
    expect(lines[place + 1]?.trim()).toBe(row.help.replaceAll('`', ''));
  }
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(132);
});

// Only here: what a command line prints, where, and its exit code.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { describe, expect, test } from 'vitest';
import { runHere } from '../support/command.ts';
import { root, run, temporaryDirectory } from '../support/program.ts';

const GOOD = { GFA_URL: 'https://gfa.example.com/v1', GFA_TOKEN: 'token-canary' };

describe('a configuration that is wrong', () => {
  const wrong = {
    GFA_URL: 'https://gfa.example.com',
    GFA_TOKEN: 'canary\twith a tab',
    PORTAL_URL: 'https://user:canary@portal.example.com',
    PORTAL_USER_KEY: 'user-canary',
    PORTAL_INTERVALL: '1m',
    STALE_AFTER: '0',
  };

  test('ends a command with 78, a line a fault and no secret', async () => {
    const { code, stdout, stderr } = await run(['--once'], { environment: wrong });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    const lines = stderr.trimEnd().split('\n');
    const named = ['GFA_URL', 'GFA_TOKEN', 'PORTAL_URL', 'STALE_AFTER', 'PORTAL_INTERVALL'];
    expect(lines.map((line) => line.split(':')[0])).toEqual(named);
    expect(lines.at(-1)).toContain('PORTAL_INTERVAL?');
    expect(stderr).not.toMatch(/canary|\n\s+at /);
  });

  test('that names a state file in a missing folder ends the start as it ends the check', async () => {
    const environment = { ...GOOD, STATE_FILE: '/nowhere/state' };
    const [start, check] = [await run([], { environment }), await runHere(['--check-config'], { environment })];
    expect(start).toMatchObject({ code: 78, stdout: '', stderr: check.stderr });
    expect(check).toMatchObject({ code: 78, stderr: expect.stringMatching(/^STATE_FILE: .*; create it, .*\n$/) });
  });

  test('may be empty, and the error says what to set', async () => {
    const { code, stderr } = await runHere([]);
    expect(code).toBe(78);
    expect(stderr).toMatch(/^GFA_URL: .*PORTAL_URL.*\n$/);
  });
});

describe('--check-config', () => {
  test('prints what is in force with secrets masked, and ends with 0', async () => {
    const { code, stdout, stderr } = await run(['--check-config'], { environment: { ...GOOD, GFA_INTERVAL: '30s' } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`GFA_URL=${GOOD.GFA_URL}\n`);
    expect(stdout).toContain('GFA_TOKEN=[redacted]\n');
    expect(stdout).toContain('GFA_INTERVAL=30s\n');
    expect(stdout).not.toContain('canary');
    expect(stdout).toMatch(/\n# the configuration is valid\n$/);
  });

  test('ends with 78 where a placeholder for a token or a folder as the state file would not work', async () => {
    const environment = { ...GOOD, GFA_TOKEN: 'replace-me', STATE_FILE: tmpdir() };
    const { code, stdout, stderr } = await runHere(['--check-config'], { environment });
    expect(stderr).toContain('GFA_TOKEN: is the placeholder of an example; expected ');
    expect(stderr).toContain(`STATE_FILE: ${tmpdir()} exists and is not a file; expected `);
    expect({ code, isValid: stdout.includes('is valid') }).toEqual({ code: 78, isValid: false });
  });

  test('warns of variables without effect that look like one, and of no other', async () => {
    const environment = { ...GOOD, LOGLEVEL: 'x', HOSTNAME: 'host', LOGNAME: 'me', SHELL: '/bin/sh' };
    const { code, stderr } = await runHere(['--check-config'], { environment });
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: 'warning: LOGLEVEL: is no variable of the exporter; did you mean LOG_LEVEL?\n',
    });
  });

  test('reads .env in the working directory, beneath the environment', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, '.env'), `GFA_URL=${GOOD.GFA_URL}\nGFA_TOKEN="token-canary"\nGFA_INTERVAL=2m\n`);
    const { code, stdout } = await runHere(['--check-config'], { directory, environment: { GFA_INTERVAL: '3m' } });
    expect(code).toBe(0);
    expect(stdout).toContain(`GFA_URL=${GOOD.GFA_URL}\n`);
    expect(stdout).toContain('GFA_INTERVAL=3m\n');
    expect(stdout).not.toContain('canary');
  });
});

describe('a PEM file of remote write', () => {
  const portal = { PORTAL_URL: 'https://portal.example.com', PORTAL_USER_KEY: 'key-canary' };
  const receiver = { ...GOOD, ...portal, REMOTE_WRITE_URL: 'https://127.0.0.1:9/write' };
  const expected = 'expected the path of a PEM file\n';
  const pipeIn = (folder: string) => {
    execFileSync('mkfifo', [join(folder, 'ca.pem')]);
    return join(folder, 'ca.pem');
  };
  const fileIn = (folder: string, text: string) => {
    writeFileSync(join(folder, 'ca.pem'), text);
    return join(folder, 'ca.pem');
  };

  test.each([
    ['is a folder ends the start', (folder: string) => folder, []],
    ['is a pipe without a writer ends --check-config', pipeIn, ['--check-config']],
  ])('that %s with 78', async (_, make, args) => {
    const path = make(temporaryDirectory());
    const stderr = `REMOTE_WRITE_CA_FILE: "${path}" cannot be read (not a regular file); ${expected}`;
    const ended = await runHere(args, { environment: { ...receiver, REMOTE_WRITE_CA_FILE: path } });
    expect(ended).toMatchObject({ code: 78, stdout: '', stderr });
  });

  test('may be large, and --check-config shows its path', async () => {
    const path = fileIn(temporaryDirectory(), rootCertificates.join('\n'));
    expect(statSync(path).size).toBeGreaterThan(100_000);
    const environment = { ...receiver, REMOTE_WRITE_CA_FILE: path };
    const { code, stdout, stderr } = await runHere(['--check-config'], { environment });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`\nREMOTE_WRITE_CA_FILE=${path}\n`);
    expect(stdout).not.toContain('BEGIN');
  });
});

describe('the command line', () => {
  test('--help prints the options and the variables', async () => {
    const stdout = expect.stringMatching(/^ {2}--check-config [\s\S]*^ {2}LISTEN_ADDRESS /m);
    expect(await runHere(['--help'])).toEqual({ code: 0, stdout, stderr: '' });
  });

  test('-v prints what the bug report needs: version, revision, Node.js, platform', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
    const { code, stdout, stderr } = await run(['-v'], { environment: { FILER_EXPORTER_REVISION: 'abc123' } });
    const { version: node, platform, arch } = process;
    const line = `filer-exporter ${version} (revision abc123, Node.js ${node}, ${platform}/${arch})\n`;
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: line, stderr: '' });
  });

  test('the flags that every exporter has count before their variables', async () => {
    const args = ['--check-config', '--web.listen-address=:9', '--web.config.file', '/nowhere/web.yml'];
    const { code, stderr } = await runHere(args, { environment: { ...GOOD, WEB_CONFIG_FILE: '' } });
    expect([code, stderr]).toEqual([78, 'WEB_CONFIG_FILE: the file /nowhere/web.yml cannot be read (ENOENT)\n']);
    const { stdout } = await runHere(args.slice(0, 2), { environment: { ...GOOD, LISTEN_ADDRESS: ':8' } });
    expect(stdout).toContain('\nLISTEN_ADDRESS=:9\n');
  });

  test('[quoted-file] --like quotes nothing of a file that is no report', async () => {
    const path = join(temporaryDirectory(), 'secret');
    writeFileSync(path, 'canary-5ec1e7');
    const { code, stderr } = await runHere(['--demo', '--like', path]);
    expect([code, stderr]).toEqual([78, `--like ${path}: is not JSON; expected a report of --doctor --report\n`]);
  });

  test.each([
    [['--verson'], '--verson: unknown option; did you mean --version?'],
    [['--demo', '--once'], 'only one of these options'],
    [
      ['--web.listen-address=:1', '--web.listen-address=:2'],
      '--web.listen-address: is given twice; expected one value',
    ],
  ])('with %j it says what is wrong and ends with 78', async (args, message) => {
    const { code, stdout, stderr } = await runHere(args, { environment: GOOD });
    expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});

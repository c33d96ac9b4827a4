// Only here: a unit that systemd judges unsafe or rejects.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/arguments.ts';
import { services } from '../../src/services/services.ts';
import { loadConfig } from '../support/load-config.ts';
import { root, temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';

/*
 * Where systemd-analyze is not installed its judgement is skipped, unless REQUIRE_SYSTEMD is set: then that is a failure.
 */

const folder = join(root, 'deploy', 'systemd');
const unit = readFileSync(join(folder, 'filer-exporter.service'), 'utf8');
const packageVersion = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version as string;
const hasSystemd = spawnSync('systemd-analyze', ['--version'], { stdio: 'ignore' }).status === 0;

test.runIf(process.env.REQUIRE_SYSTEMD)('systemd-analyze is installed, as REQUIRE_SYSTEMD asks', () => {
  expect(hasSystemd).toBe(true);
});

describe.runIf(hasSystemd)('systemd', () => {
  test('finds nothing that it does not know in the unit', () => {
    const path = join(temporaryDirectory(), 'filer-exporter.service');
    // It looks whether there is such a program, and this machine has none installed.
    writeFileSync(path, unit.replaceAll('/usr/bin/filer-exporter', process.execPath));
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
    expect({ status, said: stdout + stderr }).toEqual({ status: 0, said: '' });
  });

  test('calls it exposed below 2.0', () => {
    const args = ['security', '--offline=true', '--no-pager', '--threshold=19', join(folder, 'filer-exporter.service')];
    const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
    const score = Number(/exposure level for filer-exporter\.service: (\d+\.\d)/.exec(stdout)?.[1]);
    expect(score).toBeLessThan(2);
    expect(status).toBe(0);
  });
});

describe('the Quadlet file', () => {
  const container = readFileSync(join(folder, 'filer-exporter.container'), 'utf8');
  const generator = '/usr/libexec/podman/quadlet';

  test.runIf(existsSync(generator))('becomes a service, of which Podman rejects nothing', () => {
    const { status, stdout } = spawnSync(generator, ['-dryrun'], {
      encoding: 'utf8',
      env: { ...process.env, QUADLET_UNIT_DIRS: folder },
    });
    expect(status).toBe(0);
    expect(stdout).toContain('---filer-exporter.service---');
    expect(stdout).toMatch(/^ExecStart=.*podman run .*--read-only .*localhost\/filer-exporter:1\.0\.0$/m);
  });

  test('runs the image of this version, and handles a failure as the unit does', () => {
    expect(container).toMatch(new RegExp(`^Image=localhost/filer-exporter:${packageVersion}$`, 'm'));
    for (const name of ['Restart', 'RestartSec', 'RestartPreventExitStatus', 'TimeoutStopSec']) {
      const line = new RegExp(`^${name}=.*$`, 'm');
      expect(line.exec(container)?.[0]).toBe(line.exec(unit)?.[0] ?? name);
    }
  });
});

test('[core-dumps] the unit writes no core dump and swaps nothing out: secrets stay in the memory', () => {
  expect(unit).toMatch(/^LimitCORE=0$/m);
  expect(unit).toMatch(/^MemorySwapMax=0$/m);
});

test('the example environment and the unit’s own are a good configuration, with every secret as a file', () => {
  const own = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(
    ([, name = '', value = '']) => [name, value] as const,
  );
  const read: string[] = [];
  const environment = {
    ...parseEnv(readFileSync(join(folder, 'filer-exporter.env'), 'utf8')),
    ...Object.fromEntries(own),
  };
  const config = loadConfig({
    environment,
    readFile: (path) => {
      if (path === '.env') throw Object.assign(new Error('none'), { code: 'ENOENT' });
      read.push(path);
      return 'made-up\n';
    },
    services: services.map(({ section }) => section),
  });
  expect(config.services.size).toBe(2);
  // systemd puts each file of the folder there, under the name of the credential and its own.
  expect(unit).toContain('\nLoadCredential=secrets:/etc/filer-exporter/secrets\n');
  const names = ['gfa-token', 'portal-service-key', 'portal-service-secret'];
  expect(new Set(read)).toEqual(
    new Set(names.map((name) => `/run/credentials/filer-exporter.service/secrets_${name}`)),
  );
});

test('a wrong configuration is not tried again', () => {
  expect(unit).toContain(`\nRestartPreventExitStatus=${EXIT.configuration}\n`);
});

test.runIf(hasPrometheus)('Prometheus takes the scrape job, and the file with the targets', () => {
  const check = (folderOf: string) =>
    spawnSync('promtool', ['check', 'config', 'prometheus.yml'], { encoding: 'utf8', cwd: folderOf }).status;
  expect(check(folder)).toBe(0);
  const other = temporaryDirectory();
  cpSync(folder, other, { recursive: true });
  writeFileSync(join(other, 'filer-exporter.targets.yml'), '- target: [exporter-1.example.com:9989]\n');
  expect(check(other)).toBe(1);
});

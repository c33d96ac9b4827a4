// Only here: what a backfill prints, keeps and gives back that is stopped, or whose reader goes away.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type MockServices, startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { runHere } from '../support/command.ts';
import { builtMain, run, start, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';

async function service(latencyMs = 0): Promise<MockServices> {
  const mocks = await startMockServices({ clock: systemClock, appliances: 2, variations: { latencyMs } });
  onTestFinished(() => mocks.close());
  return mocks;
}

const environmentOf = ({ portalUrl, credentials }: MockServices) => ({
  PORTAL_URL: portalUrl,
  PORTAL_USER_KEY: credentials.userKey,
  PORTAL_CONCURRENCY: '1',
  PORTAL_SERIES: 'cpu_utilization,load_average,cache_utilization',
});

const ARGS = ['--backfill', '--since', '1d', '--labels', 'job=j', '--limit-share', '100%'];

test('SIGTERM ends --backfill with 1 and nothing on standard output, gives the token back and keeps what was read', async () => {
  const mocks = await service(300);
  const directory = temporaryDirectory();
  // Thirty series of a third of a second each: the signal comes long before the end.
  const { PORTAL_SERIES: _, ...environment } = environmentOf(mocks);
  const program = start(ARGS, { environment, directory });
  const progress = join(directory, 'filer-exporter-backfill', 'progress');
  const done = () => existsSync(progress) && readFileSync(progress, 'utf8').split('\n').length > 3;
  await until('two series to be done', done);
  program.kill('SIGTERM');
  const { code, stdout, stderr } = await program.ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain('backfill: stopped; repeat the same command to continue');
  expect(done()).toBe(true);
  expect(mocks.requests.at(-1)).toMatchObject({ operation: 'revoke', status: 200 });
});

test('a reader that goes away loses nothing: the same command prints everything, without a request for a series', async () => {
  const mocks = await service();
  const directory = temporaryDirectory();
  const env = { PATH: process.env.PATH, ...environmentOf(mocks) };
  const command = `"${process.execPath}" "${builtMain()}" ${ARGS.join(' ')}`;
  const { stdout: head, stderr } = await promisify(execFile)('sh', ['-c', `${command} | head -n 1`], {
    cwd: directory,
    env,
  });
  expect(head).toMatch(/^# HELP /);
  expect(stderr).toMatch(/EPIPE; \S+ keeps what was read/);
  expect(stderr).not.toContain('    at ');
  const before = mocks.requests.filter(({ path }) => path.includes('/telemetry/')).length;
  const { code, stdout } = await run(ARGS, { environment: environmentOf(mocks), directory });
  expect(code).toBe(0);
  expect(stdout.split('\n').slice(-2)).toEqual(['# EOF', '']);
  expect(mocks.requests.filter(({ path }) => path.includes('/telemetry/'))).toHaveLength(before);
  expect(existsSync(join(directory, 'filer-exporter-backfill'))).toBe(false);
});

test('a portal that has none of it, wrong credentials and no portal at all give one line each', async () => {
  const mocks = await service();
  const environment = environmentOf(mocks);
  const refused = await runHere(ARGS, { environment: { ...environment, PORTAL_USER_KEY: 'canary-key' } });
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('returned 401');
  expect(refused.stderr).not.toContain('canary');
  mocks.vary({ forbidden: ['cpu_utilization', 'load_average', 'cache_utilization'] });
  const forbidden = await runHere(ARGS, { environment });
  expect(forbidden).toMatchObject({ code: 1, stdout: '' });
  expect(forbidden.stderr).toMatch(/failed: .* returned 403/);
  expect(await runHere(ARGS)).toMatchObject({ code: 78, stdout: '' });
});

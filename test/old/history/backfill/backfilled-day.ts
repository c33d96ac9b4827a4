import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { type MockServices, startMockServices } from '../../../src/demo/mock-services.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { STANDARD_SERIES } from '../../../src/services/portal/appliances/series-operations.ts';
import { World } from '../../harness/world.ts';
import { builtMain, root, start, temporaryDirectory } from '../../support/program.ts';
import { until } from '../../support/until.ts';
import { differences, LABELS, minutesOf } from '../minutes.ts';
import { prometheusReceiver } from '../receivers.ts';

/** Series that were asked for of the mock services so far. */
const asked = ({ requests }: MockServices) => requests.filter(({ path }) => path.includes('/telemetry/')).length;

/** The commands of docs/history.md, about a day and with the labels of the comparison. */
function commands(): string {
  const page = readFileSync(join(root, 'docs', 'history.md'), 'utf8');
  const block = /```sh\n(filer-exporter --backfill .*?)```/s.exec(page)?.[1] ?? '';
  const labels = Object.entries(LABELS).map(([name, value]) => `${name}=${value}`);
  const changed = block.replace('--since 30d', '--since 1d').replace(/--labels \S+/, `--labels ${labels.join(',')}`);
  expect(changed.split('\n')).toHaveLength(3);
  return changed;
}

/**
 * A day of the mock portal's minutes by `--backfill`, which is killed and begun again, through promtool into a Prometheus: then
 * every minute of every series is compared with what the mock portal holds. `installed` is the folder of both programs; empty
 * for those on the PATH.
 */
export async function backfilledDay(installed = ''): Promise<void> {
  const folder = temporaryDirectory();
  const mocks = await startMockServices({ clock: systemClock, appliances: 2, variations: { latencyMs: 200 } });
  onTestFinished(() => mocks.close());
  const environment = {
    PORTAL_URL: mocks.portalUrl,
    PORTAL_USER_KEY: mocks.credentials.userKey,
    PORTAL_CONCURRENCY: '1',
  };
  const [words = ''] = commands().split(' > ');
  const first = start(words.split(' ').slice(1), { environment, directory: folder });
  const progress = join(folder, 'filer-exporter-backfill', 'progress');
  // The heading and the group with which it begins are no series.
  const done = () => (existsSync(progress) ? readFileSync(progress, 'utf8').split('\n').length - 3 : 0);
  await until('five series to be done', () => done() >= 5);
  first.kill('SIGKILL');
  expect(await first.ended).toMatchObject({ signal: 'SIGKILL', stdout: '' });
  const kept = done();
  const begun = JSON.parse(readFileSync(progress, 'utf8').split('\n')[0] ?? '') as { from: number; to: number };

  mocks.vary({ latencyMs: 0 });
  const before = asked(mocks);
  const programs = join(folder, 'bin');
  mkdirSync(programs);
  const shell = ['#!/bin/sh', `exec "${process.execPath}" "${builtMain()}" "$@"`, ''].join('\n');
  writeFileSync(join(programs, 'filer-exporter'), shell, { mode: 0o755 });
  const env = {
    ...environment,
    PATH: [programs, ...(installed === '' ? [] : [installed]), process.env.PATH].join(':'),
  };
  const { stderr } = await promisify(execFile)('sh', ['-e', '-c', commands()], { cwd: folder, env });
  const [, series = ''] = /backfill: (\d+) series of appliances/.exec(stderr) ?? [];
  expect(Number(series)).toBeGreaterThan(25);
  expect(asked(mocks) - before).toBe(Number(series) - kept);
  expect(stderr).toContain(`${kept} of them were read before the interruption`);
  expect(stderr).not.toContain(mocks.credentials.userKey);
  expect(existsSync(progress)).toBe(false);

  renameSync(join(folder, 'blocks'), join(folder, 'data'));
  const prometheus = await prometheusReceiver(join(installed, 'prometheus'), folder);
  await prometheus.start();
  onTestFinished(() => prometheus.kill());
  const { from, to } = begun;
  const world = await World.begin({ appliances: 2, volumes: 5, at: Date.now(), later: true });
  const minutes = await minutesOf(world, { from, to: to - 1, series: STANDARD_SERIES });
  expect([...minutes.values()].reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(50_000);
  expect(differences(minutes, await prometheus.points(from, to)).slice(0, 10)).toEqual([]);
}

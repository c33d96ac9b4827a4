import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type StandIn, startStandIn } from '../../src/demo/stand-in.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { run, start, temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { until } from '../support/until.ts';
import { differences, LABELS, Play } from './play.ts';
import { prometheusReceiver } from './receivers.ts';

const isLeftOut = !hasPrometheus && process.env.REQUIRE_PROMETHEUS !== '1';

/** Series that were asked for of the stand-in so far. */
const asked = ({ requests }: StandIn) => requests.filter(({ path }) => path.includes('/telemetry/')).length;

test.skipIf(isLeftOut)(
  'a backfill that is killed and begun again gives promtool every minute of every series, as the portal has it',
  async () => {
    const folder = temporaryDirectory();
    const standIn = await startStandIn({ clock: systemClock, appliances: 2, variations: { latencyMs: 200 } });
    onTestFinished(() => standIn.close());
    const labels = Object.entries(LABELS).map(([name, value]) => `${name}=${value}`);
    const args = ['--backfill', '--since', '1d', '--labels', labels.join(','), '--share', '100%'];
    const environment = {
      ...{ PORTAL_URL: standIn.portalUrl, PORTAL_USER_KEY: standIn.credentials.userKey },
      PORTAL_CONCURRENCY: '1',
    };
    const first = start(args, { environment, directory: folder });
    const progress = join(folder, 'filer-exporter-backfill', 'progress');
    const done = () => (existsSync(progress) ? readFileSync(progress, 'utf8').split('\n').length - 2 : 0);
    await until('five series to be done', () => done() >= 5);
    first.kill('SIGKILL');
    expect(await first.ended).toMatchObject({ signal: 'SIGKILL', stdout: '' });
    const kept = done();
    const begun = JSON.parse(readFileSync(progress, 'utf8').split('\n')[0] ?? '') as { from: number; to: number };

    standIn.vary({ latencyMs: 0 });
    const before = asked(standIn);
    const { code, stdout, stderr } = await run(args, { environment, directory: folder });
    expect(code, stderr).toBe(0);
    expect(asked(standIn) - before).toBe(30 - kept);
    expect(stderr).toContain(`${kept} of them were read before the interruption`);
    expect(existsSync(progress)).toBe(false);

    const data = join(folder, 'data');
    mkdirSync(data);
    writeFileSync(join(folder, 'history.om'), stdout);
    execFileSync('promtool', ['tsdb', 'create-blocks-from', 'openmetrics', join(folder, 'history.om'), data]);
    const prometheus = await prometheusReceiver('prometheus', folder);
    await prometheus.start();
    onTestFinished(() => prometheus.kill());
    const { from, to } = begun;
    const play = await Play.begin({ appliances: 2, start: Date.now(), send: prometheus.send });
    onTestFinished(() => play.close());
    const truth = await play.truth(from, to - 1);
    expect([...truth.values()].reduce((sum, { size }) => sum + size, 0)).toBeGreaterThan(50_000);
    expect(differences(truth, await prometheus.points(from, to)).slice(0, 10)).toEqual([]);
  },
);

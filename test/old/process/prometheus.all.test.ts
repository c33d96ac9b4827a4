// Only here: an exposition that promtool reads otherwise than we do.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { demoCatalog } from '../support/demo-catalog.ts';
import { start } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { get, scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';

test.runIf(hasPrometheus || Boolean(process.env.REQUIRE_PROMETHEUS))(
  'promtool finds no fault in the exposition of the demo, with every metric of the catalogue',
  async () => {
    const url = await start(['--demo', '--trouble']).serving();
    await until('every metric', async () => {
      const { types } = await scrape(url);
      return demoCatalog.every(({ name }) => types.has(name));
    });
    const { text } = await get(`${url}/metrics`);
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  },
);

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { catalog } from '../src/catalog.ts';
import { exampleOf } from './support/examples.ts';
import { temporaryDirectory } from './support/program.ts';
import { hasPrometheus } from './support/prometheus.ts';

const isLeftOut = !hasPrometheus && process.env.REQUIRE_PROMETHEUS !== '1';

test.skipIf(isLeftOut)('Prometheus takes the example of each metric', () => {
  const rules = catalog.map((each, index) => ({ record: `example:${index}`, expr: exampleOf(each) }));
  const file = join(temporaryDirectory(), 'examples.yml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'examples', rules }] }));
  const { stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout).toContain(`SUCCESS: ${catalog.length} rules found`);
});

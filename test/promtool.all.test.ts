import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { catalog } from '../src/catalog.ts';
import { exampleOf } from './support/examples.ts';
import { root, temporaryDirectory } from './support/program.ts';
import { hasPrometheus } from './support/prometheus.ts';

const isLeftOut = !hasPrometheus && process.env.REQUIRE_PROMETHEUS !== '1';

/** What promtool says about a file with this text. */
function check(what: 'config' | 'rules', text: string) {
  const file = join(temporaryDirectory(), 'checked.yml');
  writeFileSync(file, text);
  // What the examples name, such as certificates, is on the machine of whoever takes them.
  const options = what === 'config' ? ['--syntax-only'] : [];
  const { stdout, stderr } = spawnSync('promtool', ['check', what, ...options, file], { encoding: 'utf8' });
  return { stdout, stderr };
}

test.skipIf(isLeftOut)('Prometheus takes the scrape jobs of the README', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, ...blocks] = readme.split('\n```yaml\n');
  expect(blocks).toHaveLength(2);
  for (const block of blocks) expect(check('config', block.split(/^```$/m)[0] ?? '').stdout).toContain('SUCCESS');
});

test.skipIf(isLeftOut)('Prometheus takes the example of each metric', () => {
  const rules = catalog.map((each, index) => ({ record: `example:${index}`, expr: exampleOf(each) }));
  const { stdout, stderr } = check('rules', JSON.stringify({ groups: [{ name: 'examples', rules }] }));
  expect(stderr).toBe('');
  expect(stdout).toContain(`SUCCESS: ${catalog.length} rules found`);
});

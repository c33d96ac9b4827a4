import { expect, test } from 'vitest';
import { spawnExporter } from '../harness/spawn-exporter.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { hasTool, runAsync } from '../harness/tools.ts';
import { until } from '../harness/until.ts';

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--no-first-run'];

/** The page as Chromium shows it, after its style sheet and its policy have taken effect. */
async function shownBy(url: string): Promise<string> {
  const { output } = await runAsync(
    'chromium',
    [...FLAGS, `--user-data-dir=${temporaryDirectory()}`, '--dump-dom', url],
    {},
  );
  return output;
}

test.skipIf(!hasTool('chromium'))('people see the fleet in a browser, and links keep filter and order', async () => {
  const program = spawnExporter(['--demo']);
  const url = await program.serving();
  await until('the inventory', async () => (await (await fetch(`${url}/status`)).text()).includes('edge-leeds'));
  const whole = await shownBy(`${url}/status`);
  expect(whole).toContain('edge-denver');
  expect(whole).toContain('edge-leeds');
  expect(whole).not.toContain('<script');
  const filtered = await shownBy(`${url}/status?filter=denver&sort=name`);
  expect(filtered).toContain('edge-denver');
  expect(filtered).not.toContain('edge-leeds');
  expect(filtered).toMatch(/href="[^"]*filter=denver[^"]*"/);
});

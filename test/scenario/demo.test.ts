import { expect, test } from 'vitest';
import { catalog } from '../../src/catalog.ts';
import { demoEnvironment, demoServices } from '../../src/demo/demo.ts';
import { MINUTE } from '../harness/duration.ts';
import { URLS } from '../harness/memory-connection.ts';
import type { Scrape } from '../harness/scrape.ts';
import { simulate } from './simulate.ts';

/** Only in a configuration that the demo does not have, or while something fails. */
const ABSENT = /_remote_write_|_web_(?:config|certificate)_|_state_file_|_down_info$|_warning_info$|_gap_info$/;

test('the demo shows every metric of the catalogue, no request of it fails, and nothing confidential leaves the program', async () => {
  const env = demoEnvironment({}, { gfaUrl: URLS.gfa, portalUrl: URLS.portal }) as Record<string, string>;
  const run = await simulate({
    env: { ...env, LOG_LEVEL: 'debug' },
    createServices: (clock) => demoServices(clock, 'one'),
  });
  const expected = catalog.filter(({ name }) => !ABSENT.test(name));
  const missing = (from: Scrape) => expected.filter(({ name, type }) => from.types.get(name) !== type);
  let scrape = await run.advance('4m');
  // Some events are rare.
  while (missing(scrape).length > 0 && run.clock.monotonic() < 20 * MINUTE) scrape = await run.advance('1m');
  expect(missing(scrape).map(({ name }) => name)).toEqual([]);
  expect(run.services.requests().filter(({ status }) => status !== 200)).toEqual([]);
  expect(scrape.all('filer_appliance_up', { filer: 'edge-denver' }).map(({ value }) => value)).toEqual([0]);
  const shown = [
    scrape.text,
    (await run.get('/status')).text,
    (await run.get('/api/v1/status')).text,
    JSON.stringify(run.log),
  ];
  for (const text of shown) expect(text).not.toMatch(/confidential|5ec2e700/);
});

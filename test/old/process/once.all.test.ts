// Only here: what --once prints, its exit code, and what it leaves alone.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runHere } from '../support/command.ts';
import { freePort, servedPort } from '../support/listening.ts';
import { hasTerminals } from '../support/machine.ts';
import { run, temporaryDirectory } from '../support/program.ts';
import { gfaEnvironment, portalEnvironment, realServices } from '../support/real-services.ts';
import { Scrape } from '../support/scrape.ts';

/** Runs a command on a terminal of its own, which `script` makes. */
const onTerminal = `NODE="$1" MAIN="$2" COMMAND="$3" exec script -qec 'exec "$NODE" "$MAIN" "$COMMAND"' /dev/null`;

test.runIf(hasTerminals).each(['--once', '--doctor'])(
  '[titles-on-terminals] %s has a terminal obey no title of a service',
  async (command) => {
    const title = 'a\u001b[2J\u202eb';
    const server = createServer((_, response) => {
      const now = new Date().toISOString();
      const about = { metric_type: 'filer', version: 1, timestamp: now, filer_guid: GUID, filer_title: title };
      const filers = [{ ...about, last_checkin: 42 }];
      const info = { account: GUID, volumes: [], last_info: now, last_lock_event: now, last_propagation: now };
      const metrics = [{ volumes: [], filers, propagation: [], locks: [] }];
      response.end(JSON.stringify({ version: 1, flags: {}, info: { ...info, request_time: now }, metrics }));
    });
    const port = await servedPort(server);
    const environment = { GFA_URL: `http://127.0.0.1:${port}/v1`, GFA_TOKEN: 'a-token', LOG_LEVEL: 'silent' };
    const { stdout } = await run([command], { environment, through: ['sh', '-c', onTerminal, 'sh'] });
    expect(stdout.includes('\u001b') || stdout.includes('\u202e')).toBe(false);
    if (command !== '--once') return;
    expect(stdout).toContain('filer="a\\u{1b}[2J\\u{202e}b"');
    // A file has it as it is.
    expect((await run([command], { environment })).stdout).toContain(`filer="${title}"`);
  },
);

const GUID = 'a1d1b8de-4e2b-4d0c-9a7f-5a2b6c7d8e01';

describe('--once', () => {
  test('polls everything, prints the exposition and nothing else, gives the token back and ends with 0', async () => {
    const { mocks, environment } = await realServices();
    const { code, stdout, stderr } = await run(['--once'], { environment });
    expect(code).toBe(0);
    const scrape = new Scrape(stdout);
    expect(scrape.sum('filer_api_up')).toBe(2);
    expect(scrape.all('filer_appliance_cpu_utilization_ratio')).toHaveLength(4);
    expect(scrape.all('filer_volume_info')).toHaveLength(2);
    expect(mocks.requests.at(-1)).toMatchObject({ operation: 'revoke', status: 200 });
    expect(mocks.requests.filter(({ operation }) => operation === 'cpu_utilization')).toHaveLength(4);
    // The log goes where the exposition does not.
    expect(stderr).toContain('"msg":"the API responds"');
  });

  test('takes no event of the exporter that runs with the same settings, and leaves its state file as it is', async () => {
    const { mocks } = await realServices();
    const folder = temporaryDirectory();
    const path = join(folder, 'state');
    writeFileSync(path, 'the state of another process');
    await runHere(['--once'], { environment: { ...gfaEnvironment(mocks), STATE_FILE: path } });
    expect(readFileSync(path, 'utf8')).toBe('the state of another process');
    expect(readdirSync(folder)).toEqual(['state']);
    const [asked] = mocks.requests.filter(({ operation }) => operation === 'data');
    expect(asked?.headers['x-service-client-key']).toMatch(/^\S+-once-\d{14}$/);
  });

  test('prints what one service brought when the other does not answer, and ends with 0', async () => {
    const environment = { ...(await realServices()).environment, PORTAL_URL: await nowhere() };
    const { code, stdout } = await runHere(['--once'], { environment });
    expect(code).toBe(0);
    expect(new Scrape(stdout).value('filer_api_up', { api: 'portal' })).toBe(0);
    expect(new Scrape(stdout).value('filer_api_up', { api: 'gfa' })).toBe(1);
  });

  test('ends with 1 when nothing answers', async () => {
    const url = await nowhere();
    const { environment: services } = await realServices();
    const environment = { ...services, GFA_URL: `${url}/v1`, GFA_INTERVAL: '1s', PORTAL_URL: url };
    const { code, stdout, stderr } = await runHere(['--once'], { environment });
    expect(code).toBe(1);
    expect(new Scrape(stdout).sum('filer_api_up')).toBe(0);
    expect(stderr).toContain('the API cannot be polled');
  });

  test.each([
    ['all that the inventory names', {}],
    ['those that are named', { PORTAL_SERIALS: '0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f' }],
  ])('ends with 1 after one request when the credentials are refused, for %s', async (_, more) => {
    const { mocks } = await realServices();
    const environment = { ...portalEnvironment(mocks), PORTAL_SERVICE_KEY: 'nobody', ...more };
    const { code, stdout } = await runHere(['--once'], { environment });
    expect(code).toBe(1);
    expect(new Scrape(stdout).sum('filer_api_up')).toBe(0);
    expect(mocks.requests.map(({ operation }) => operation)).toEqual(['token']);
  });

  test('asks once for a series that fails, and ends with 0: the inventory was there', async () => {
    const { mocks } = await realServices({ appliances: 8 });
    mocks.fail({ kind: 'status', status: 400, operation: /^(?:cpu_utilization|load_average)$/ });
    const { code, stdout } = await runHere(['--once'], { environment: portalEnvironment(mocks) });
    expect(code).toBe(0);
    expect(new Scrape(stdout).value('filer_api_up', { api: 'portal' })).toBe(0);
    expect(mocks.requests.filter(({ operation }) => operation === 'cpu_utilization')).toHaveLength(8);
  });
});

/** Where nobody listens. */
async function nowhere(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`;
}

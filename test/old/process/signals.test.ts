// Only here: a stop that hangs, or leaves a token behind, and what else befalls a process from outside.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { isAtLeast, type Program, run, start, temporaryDirectory } from '../support/program.ts';
import { realServices } from '../support/real-services.ts';
import { get, scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';

/** Who waits for SHUTDOWN_TIMEOUT though nothing asks for that is not done before the test gives up. */
const AN_HOUR = '1h';

describe('SIGTERM', () => {
  test('during the demo’s start ends it cleanly as well', async () => {
    const program = start(['--demo']);
    await program.serving();
    program.kill('SIGINT');
    expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
  });

  test.each([0, 10, 60])('[early-stop] ends it with 0, %i turns after its first instruction', async (turns) => {
    const directory = temporaryDirectory();
    const preload = join(directory, 'stop.mjs');
    writeFileSync(
      preload,
      `const { on } = process;
      process.on = function (name, listener) {
        const result = on.call(this, name, listener);
        let left = name === 'SIGTERM' ? ${turns} : Number.POSITIVE_INFINITY;
        const step = () => (left-- > 0 ? setImmediate(step) : process.kill(process.pid, 'SIGTERM'));
        if (name === 'SIGTERM') step();
        return result;
      };`,
    );
    const environment = { GFA_URL: 'http://127.0.0.1:9/v1', GFA_TOKEN: 'a-token', NODE_OPTIONS: `--import=${preload}` };
    expect(await run([], { environment, directory })).toMatchObject({ code: 0, signal: null, stderr: '' });
  });

  test('before the first token has come ends it without waiting for it', async () => {
    const { mocks, environment } = await realServices();
    mocks.fail({ kind: 'hang', operation: 'token' });
    const program = start([], { environment: { ...environment, SHUTDOWN_TIMEOUT: AN_HOUR } });
    await until('the token to be asked for', () => mocks.requests.some(({ operation }) => operation === 'token'));
    const ended = await stopped(program);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(revocations(mocks)).toEqual([]);
  });

  test('in the middle of a sweep, with slow answers, ends it and gives the token back', async () => {
    const { mocks, environment } = await realServices({ appliances: 30, variations: { latencyMs: 100 } });
    const program = start([], { environment: { ...environment, SHUTDOWN_TIMEOUT: AN_HOUR, PORTAL_CONCURRENCY: '32' } });
    await until(
      'a sweep to be under way',
      () => mocks.requests.filter(({ path }) => path.includes('/telemetry/')).length > 20,
    );
    const ended = await stopped(program);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(revocations(mocks)).toEqual([200]);
    expect(program.log.at(-1)?.msg).toBe('stopped');
    expect(program.log.filter(({ level }) => isAtLeast(level, 'warn'))).toEqual([]);
  });

  test('does not wait longer than SHUTDOWN_TIMEOUT for a token that cannot be given back', async () => {
    const { mocks, environment } = await realServices();
    mocks.fail({ kind: 'hang', operation: 'revoke' });
    const program = start([], { environment: { ...environment, SHUTDOWN_TIMEOUT: '500ms' } });
    const url = await program.serving();
    await until('the portal to be up', async () => (await scrape(url)).value('filer_api_up', { api: 'portal' }) === 1);
    const ended = await stopped(program);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(revocations(mocks)).toEqual([undefined]);
  });

  test('a second time ends it at once', async () => {
    const { mocks, environment } = await realServices();
    mocks.fail({ kind: 'hang', operation: 'revoke' });
    const program = start([], { environment: { ...environment, SHUTDOWN_TIMEOUT: AN_HOUR } });
    const url = await program.serving();
    await until('the portal to be up', async () => (await scrape(url)).value('filer_api_up', { api: 'portal' }) === 1);
    program.kill('SIGTERM');
    await until('the token to be given back', () => revocations(mocks).length > 0);
    const ended = await stopped(program);
    expect(ended.code).toBe(1);
  });

  test('ends --once as well, with what was polled until then', async () => {
    const { mocks, environment } = await realServices({ variations: { latencyMs: 200 } });
    const program = start(['--once'], {
      environment: { ...environment, SHUTDOWN_TIMEOUT: AN_HOUR, PORTAL_CONCURRENCY: '1' },
    });
    await until('a series to be asked for', () => mocks.requests.some(({ path }) => path.includes('/telemetry/')));
    const ended = await stopped(program);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain('filer_appliance_info');
    expect(revocations(mocks)).toEqual([200]);
  });
});

/** Asks it to stop, and says how it ended. */
function stopped(program: Program) {
  program.kill('SIGTERM');
  return program.ended;
}

/** What became of each request that gives a token back. */
function revocations({ requests }: MockServices) {
  return requests.filter(({ operation }) => operation === 'revoke').map(({ status }) => status);
}

test('a debugger that SIGUSR1 opened while Node.js started is closed before the program serves', async () => {
  const directory = temporaryDirectory();
  const preload = join(directory, 'open.mjs');
  writeFileSync(preload, "import { open } from 'node:inspector'; open(0, '127.0.0.1');");
  const environment = { GFA_URL: 'http://127.0.0.1:9/v1', GFA_TOKEN: 'a-token', NODE_OPTIONS: `--import=${preload}` };
  const program = start([], { environment, directory });
  await program.serving();
  const [, port] = /^Debugger listening on ws:\/\/127\.0\.0\.1:(\d+)/m.exec(program.stderr) ?? [];
  await expect(get(`http://127.0.0.1:${port}/json`)).rejects.toThrow();
});

test('[debugger] SIGUSR1 and SIGUSR2 do nothing: no debugger opens, and the program goes on', async () => {
  const program = start([], { environment: (await realServices()).environment });
  const url = await program.serving();
  for (const name of ['SIGUSR1', 'SIGUSR2', 'SIGUSR1', 'SIGUSR2'] as const) program.kill(name);
  expect((await get(`${url}/healthz`)).status).toBe(200);
  await stopped(program);
  expect(program.stderr).toBe('');
});

test('metrics are served on after the reader of the log has gone away', async () => {
  const { environment } = await realServices();
  const program = start([], { environment: { ...environment, GFA_INTERVAL: '1s', LOG_LEVEL: 'debug' } });
  const url = await program.serving();
  program.child.stdout?.destroy();
  program.child.stderr?.destroy();
  await until('both APIs to be up', async () => (await scrape(url)).sum('filer_api_up') === 2);
  const polls = async () => (await scrape(url)).sum('filer_exporter_requests_total');
  const before = await polls();
  await until('further polls', async () => (await polls()) > before);
  program.kill('SIGTERM');
  expect((await program.ended).code).toBe(0);
});

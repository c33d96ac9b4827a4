import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { SimulatedServices } from '../../src/demo/services.ts';
import { realServices } from '../harness/real-services.ts';
import { type Child, spawnExporter } from '../harness/spawn-exporter.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { until } from '../harness/until.ts';

/** A stop that waits for this though it need not outlasts the test. */
const AN_HOUR = '1h';

const stop = (program: Child, signal: NodeJS.Signals = 'SIGTERM') => {
  program.process.kill(signal);
  return program.ended;
};

const revocations = (services: SimulatedServices) =>
  services.requests(/^\/auth\/token/).filter(({ method }) => method === 'DELETE');

test('SIGTERM during a cycle ends it with 0 and revokes the token, and the next start knows what was counted', async () => {
  const { services, variables } = await realServices({ appliances: 30 });
  const settings = { ...variables, STATE_FILE: join(temporaryDirectory(), 'state.json'), SHUTDOWN_TIMEOUT: AN_HOUR };
  const counted = async (url: string) => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return text.match(/^filer_lock_events_total\{.*/gm)?.join('\n');
  };
  const program = spawnExporter([], settings);
  const url = await program.serving();
  await until('a lock event', () => counted(url));
  await until('a cycle to be under way', () => services.requests(/telemetry/).length > 20);
  expect(await stop(program)).toMatchObject({ code: 0, stderr: '' });
  expect(revocations(services).map(({ status }) => status)).toEqual([200]);
  expect(program.log.filter(({ level }) => level !== 'info')).toEqual([]);

  services.fail({ service: 'gfa', how: 'hang' });
  const next = spawnExporter([], settings);
  const nextUrl = await next.serving();
  expect(await until('what the first process counted', () => counted(nextUrl))).toMatch(/ 0$/);
});

test('SIGINT before the first token ends it without waiting for the token', async () => {
  const { services, variables } = await realServices();
  services.fail({ path: /^\/auth\/token/, how: 'hang' });
  const program = spawnExporter([], { ...variables, SHUTDOWN_TIMEOUT: AN_HOUR });
  await until('the token to be requested', () => services.requests(/^\/auth/).length > 0);
  expect(await stop(program, 'SIGINT')).toMatchObject({ code: 0, stderr: '' });
});

test('a revocation that hangs takes no longer than SHUTDOWN_TIMEOUT', async () => {
  const { services, variables } = await realServices({ appliances: 2 });
  const program = spawnExporter([], { ...variables, SHUTDOWN_TIMEOUT: '500ms' });
  await until('a series to be polled', () => services.requests(/telemetry/).length > 0);
  services.fail({ path: /^\/auth\/token/, how: 'hang' });
  const stoppedAt = performance.now();
  expect((await stop(program)).code).toBe(0);
  expect(performance.now() - stoppedAt).toBeLessThan(5_000);
  expect(revocations(services)).toHaveLength(1);
});

test('a second signal ends it at once', async () => {
  const { services, variables } = await realServices({ appliances: 2 });
  const program = spawnExporter([], { ...variables, SHUTDOWN_TIMEOUT: AN_HOUR });
  await until('a series to be polled', () => services.requests(/telemetry/).length > 0);
  services.fail({ path: /^\/auth\/token/, how: 'hang' });
  program.process.kill('SIGTERM');
  await until('the revocation', () => revocations(services).length > 0);
  expect((await stop(program)).code).toBe(1);
});

test('SIGUSR1 opens no debugger, and it serves on after the reader of its log has gone', async () => {
  const { services, variables } = await realServices({ appliances: 2 });
  const program = spawnExporter([], { ...variables, LOG_LEVEL: 'debug' });
  const url = await program.serving();
  for (const signal of ['SIGUSR1', 'SIGUSR2', 'SIGUSR1'] as const) program.process.kill(signal);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(program.stderr).toBe('');
  program.process.stdout?.destroy();
  program.process.stderr?.destroy();
  const before = services.requests(/^\/data/).length;
  await until('further polls', () => services.requests(/^\/data/).length > before + 1);
  expect((await fetch(`${url}/metrics`)).status).toBe(200);
  expect((await stop(program)).code).toBe(0);
});

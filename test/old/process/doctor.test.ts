// Only here: the doctor as a command: its exit code, its report as a file.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { runHere } from '../support/command.ts';
import { run, temporaryDirectory } from '../support/program.ts';
import { portalEnvironment } from '../support/real-services.ts';

test('the doctor finds the demo healthy: a check list, the requests beforehand, a report, exit 0', async () => {
  const report = join(temporaryDirectory(), 'report.json');
  const { code, stdout, stderr } = await run(['--doctor', '--demo', '--report', report]);
  expect({ code, end: stdout.trimEnd().split('\n').at(-1) }).toEqual({
    code: 0,
    end: expect.stringMatching(/^\d+ ok, 0 warnings, 0 failures$/),
  });
  expect(stderr).toMatch(/^at most \d+ requests/);
  expect(JSON.parse(readFileSync(report, 'utf8'))).toMatchObject({ format: 'filer-exporter-report/1' });
  expect(statSync(report).isFile()).toBe(true);
});

test('the doctor ends with 1 where a service cannot be reached, and says so as JSON', async () => {
  const environment = { GFA_URL: 'https://gfa.invalid/v1', GFA_TOKEN: 'token-canary' };
  const { code, stdout } = await runHere(['--doctor', '--json'], { environment });
  expect(code).toBe(1);
  const { findings } = JSON.parse(stdout) as { findings: readonly object[] };
  expect(findings).toContainEqual(expect.objectContaining({ level: 'failure', subject: 'gfa', check: 'name' }));
  expect(stdout).not.toContain('canary');
});

test('[doctor-secrets] the doctor shows no secret that a service repeats in a header, a key or a text', async () => {
  const mocks = await startMockServices({ clock: systemClock, appliances: 1, volumes: 1 });
  onTestFinished(() => mocks.close());
  const environment = { ...portalEnvironment(mocks), PORTAL_COLLECTORS: 'jobs', PORTAL_SERIES: 'cpu_utilization' };
  const secret = mocks.credentials.serviceSecret;
  const headers = { 'x-ratelimit-limit': secret, 'x-ratelimit-remaining': '7', 'content-type': 'application/json' };
  const body = JSON.stringify({ items: [], [secret]: 1 });
  mocks.fail({ operation: 'jobs', kind: 'status', status: 200, headers, body });
  mocks.fail({
    operation: 'cpu_utilization',
    kind: 'status',
    status: 500,
    body: JSON.stringify({ message: secret }),
  });
  const report = join(temporaryDirectory(), 'report.json');
  const { stdout, stderr } = await runHere(['--doctor', '--report', report], { environment });
  expect(stdout).toContain('x-ratelimit-limit: not a number, x-ratelimit-remaining: 7');
  expect(stdout).toMatch(/undocumented and ignored: jobs \[…\]/);
  for (const text of [stdout, stderr, readFileSync(report, 'utf8')]) expect(text).not.toContain(secret.slice(0, 8));
});

test('a report never takes the place of another file', async () => {
  const report = join(temporaryDirectory(), 'report.json');
  writeFileSync(report, 'mine');
  const { code, stderr } = await runHere(['--doctor', '--demo', '--report', report]);
  expect({ code, text: readFileSync(report, 'utf8') }).toEqual({ code: 78, text: 'mine' });
  expect(stderr).toContain('EEXIST');
});

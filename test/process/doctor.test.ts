// Only here: the doctor as a command: its exit code, its report as a file.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run, temporaryDirectory } from '../support/program.ts';

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
  const { code, stdout } = await run(['--doctor', '--json'], { environment });
  expect(code).toBe(1);
  const { findings } = JSON.parse(stdout) as { findings: readonly object[] };
  expect(findings).toContainEqual(expect.objectContaining({ level: 'failure', subject: 'gfa', check: 'name' }));
  expect(stdout).not.toContain('canary');
});

test('a report never takes the place of another file', async () => {
  const report = join(temporaryDirectory(), 'report.json');
  writeFileSync(report, 'mine');
  const { code, stderr } = await run(['--doctor', '--demo', '--report', report]);
  expect({ code, text: readFileSync(report, 'utf8') }).toEqual({ code: 78, text: 'mine' });
  expect(stderr).toContain('EEXIST');
});

// Only here: what --plan prints, of an account or of a number, and its exit code.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runHere } from '../support/command.ts';
import { run, start, temporaryDirectory } from '../support/program.ts';
import { portalEnvironment, realServices } from '../support/real-services.ts';
import { until } from '../support/until.ts';

describe('--plan', () => {
  test('counts the account’s appliances, says what the limits allow them, and gives its token back', async () => {
    const { mocks } = await realServices();
    const { code, stdout, stderr } = await run(['--plan'], { environment: portalEnvironment(mocks) });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Appliances +4$/m);
    expect(mocks.requests.map(({ operation }) => operation)).not.toContain('cpu_utilization');
    expect(mocks.requests.at(-1)).toMatchObject({ operation: 'revoke', status: 200 });
  });

  test('needs no account for a number of appliances, and ends with 1 when they are too many', async () => {
    expect(await runHere(['--plan', '--appliances', '20'])).toMatchObject({ code: 0, stderr: '' });
    expect(await runHere(['--plan', '--appliances=5000'])).toMatchObject({ code: 1, stderr: '' });
  });

  test('shows both modes, and advises the economy mode to a fleet that would fit with it', async () => {
    const full = await runHere(['--plan', '--appliances', '1000']);
    expect(full.stdout).toMatch(/^PORTAL_MODE +full \(as set\) +economy$/m);
    expect(full.stdout).toMatch(/^CPU, load and cores +every 2\dm\d*s? +every 5m$/m);
    expect(full.stdout).toMatch(/^Other series +every 2\dm\d*s? +every 1h$/m);
    expect(full.stdout).toMatch(/^Fits +no +yes$/m);
    expect(full.stdout).toContain(
      '  - PORTAL_MODE=economy: CPU, load, cores and uptime every 5m, the other series every 1h',
    );
    const directory = temporaryDirectory();
    const lines = ['PORTAL_URL=https://portal.example.com', 'PORTAL_USER_KEY=key', 'PORTAL_MODE=economy'];
    writeFileSync(join(directory, '.env'), lines.join('\n'), { mode: 0o600 });
    const economy = await runHere(['--plan', '--appliances', '1000'], { directory });
    expect(economy).toMatchObject({ code: 0, stderr: '' });
    expect(economy.stdout).toMatch(/^PORTAL_MODE +full +economy \(as set\)$/m);
    expect(economy.stdout).toContain('It fits.');
  });

  test.each([
    ['refuses the credentials', { PORTAL_SERVICE_KEY: 'nobody' }, '; check PORTAL_SERVICE_KEY'],
    ['does not answer', { PORTAL_URL: 'http://127.0.0.1:9' }, '; check the firewall'],
  ])('says in one line that the portal %s, and ends with 1', async (_, wrong, message) => {
    const { code, stdout, stderr } = await runHere(['--plan'], {
      environment: { ...portalEnvironment((await realServices()).mocks), ...wrong },
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  test('is ended by a signal while the portal keeps it waiting', async () => {
    const { mocks } = await realServices();
    mocks.fail({ kind: 'hang', operation: 'serials' });
    const program = start(['--plan'], { environment: portalEnvironment(mocks) });
    await until('the inventory to be asked for', () => mocks.requests.some(({ operation }) => operation === 'serials'));
    program.kill('SIGINT');
    const { code, stdout, stderr } = await program.ended;
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^.*stopping\n$/);
    expect(mocks.requests.at(-1)).toMatchObject({ operation: 'revoke', status: 200 });
  });

  test('ends with 1 after a signal, even while a thread still works on a file', async () => {
    const preload = join(temporaryDirectory(), 'busy.mjs');
    const busy = `import { stat } from 'node:fs';
      process.on('SIGTERM', () => {
        const end = performance.now() + 200;
        const again = () => performance.now() < end && stat('.', again);
        again();
      });`;
    writeFileSync(preload, busy);
    for (let time = 0; time < 3; time += 1) {
      const { mocks } = await realServices();
      mocks.fail({ kind: 'hang', operation: 'token' });
      const environment = { ...portalEnvironment(mocks), NODE_OPTIONS: `--import=${preload}` };
      const program = start(['--plan'], { environment });
      await until('the token to be asked for', () => mocks.requests.some(({ operation }) => operation === 'token'));
      program.kill('SIGTERM');
      expect(await program.ended).toMatchObject({ code: 1, signal: null });
    }
  });
});

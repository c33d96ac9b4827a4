// Only here: terminals that close.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hasTerminals } from '../support/machine.ts';
import { start, temporaryDirectory } from '../support/program.ts';
import { realServices } from '../support/real-services.ts';
import { get } from '../support/scrape.ts';
import { until } from '../support/until.ts';

/* SIGHUP: a terminal that closes, or somebody who asks a daemon to read its files again. */

test.runIf(process.env.REQUIRE_LINUX)('script is there, which makes terminals, as REQUIRE_LINUX asks', () => {
  expect(hasTerminals).toBe(true);
});

test.each([
  ['a daemon', []],
  ['under nohup', ['nohup']],
])('%s goes on after SIGHUP', async (_, through) => {
  const { mocks, environment } = await realServices({ appliances: 2 });
  const program = start([], { environment: { ...environment, GFA_INTERVAL: '1s' }, through });
  const url = await program.serving();
  for (let time = 0; time < 3; time += 1) program.kill('SIGHUP');
  const polls = () => mocks.requests.filter(({ operation }) => operation === 'data').length;
  const before = polls();
  await until('further polls', () => polls() > before + 2);
  expect((await get(`${url}/healthz`)).status).toBe(200);
  program.kill('SIGTERM');
  expect(await program.ended).toMatchObject({ code: 0, signal: null });
});

// `script` has a terminal made, and the program led by a shell that becomes it; the path of it has blanks.
const onTerminal = `NODE="$1" MAIN="$2" exec script -qec 'exec "$NODE" "$MAIN"' /dev/null`;

test.runIf(hasTerminals)('a terminal that closes stops it: the state is saved and the token given back', async () => {
  const { mocks, environment } = await realServices({ appliances: 2 });
  const state = join(temporaryDirectory(), 'state');
  const terminal = start([], {
    environment: { ...environment, STATE_FILE: state },
    through: ['sh', '-c', onTerminal, 'sh'],
  });
  const saved = () => readFileSync(state);
  const first = await until('the first state', saved);
  await until('a token to be used', () => mocks.requests.some(({ operation }) => operation === 'serials'));
  const pid = Number(readFileSync(`/proc/${terminal.child.pid}/task/${terminal.child.pid}/children`, 'utf8').trim());
  expect(pid).toBeGreaterThan(1);
  // One that nobody has buried yet has ended, too.
  const isThere = () => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  onTestFinished(() => {
    if (isThere()) process.kill(pid, 'SIGKILL');
  });
  terminal.kill('SIGKILL');
  await until('the program to have ended', () => !isThere());
  const revoked = mocks.requests.filter(({ operation }) => operation === 'revoke');
  expect(revoked.map(({ status }) => status)).toEqual([200]);
  expect(saved()).not.toEqual(first);
});

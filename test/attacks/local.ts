import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { within } from '../support/machine.ts';
import { type LogLine, run, start, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { NOBODY } from '../web/asking.ts';
import { MEMORY_MIB, type Row } from './row.ts';

const { GFA_URL } = NOBODY;

/** Fails where a start with this as the file of its token does not end with 78, and with why. */
async function expectRefused(lay: (path: string) => unknown, why: string): Promise<void> {
  const path = join(temporaryDirectory(), 'token');
  lay(path);
  const line = `GFA_TOKEN_FILE: "${path}" cannot be read (${why}); expected the path of a file with the secret\n`;
  const { code, stderr } = await run([], { environment: { GFA_URL, GFA_TOKEN_FILE: path } });
  expect([code, stderr]).toEqual([78, line]);
}

/** What a user of the same machine can try, or a program of it by mistake. */
export const locals: readonly Row[] = [
  {
    id: 'named-pipe',
    who: 'local user',
    tries: 'puts a named pipe in the place of a secret’s file',
    holds: 'the start ends at once with 78; a process that runs keeps the secret that it has, serves and stops',
    begin: () => expectRefused((path) => execFileSync('mkfifo', [path]), 'not a regular file'),
  },
  {
    id: 'named-pipe-later',
    who: 'local user',
    tries: 'does so while the process runs, and the service asks for a new secret',
    holds: 'the process serves, and SIGTERM ends it',
    setup: { hasTokenFile: true, environment: { GFA_INTERVAL: '1s' } },
    play: async (stage) => {
      rmSync(stage.path('token'));
      execFileSync('mkfifo', [stage.path('token')]);
      const refused = stage.standIn.requests.length;
      const lift = stage.standIn.fail({ kind: 'status', status: 401, operation: 'data' });
      await until('the token to be refused', () =>
        stage.standIn.requests.slice(refused).some(({ operation, status }) => operation === 'data' && status === 401),
      );
      await stage.scrape();
      lift();
      stage.program.kill('SIGTERM');
      expect((await stage.program.ended).code).toBe(0);
    },
  },
  {
    id: 'huge-secret',
    who: 'local user',
    tries: 'makes a secret’s file ten megabytes long',
    holds: 'more than 64 KiB are no secret: the start ends with 78',
    begin: () => expectRefused((path) => writeFileSync(path, 'a'.repeat(10_000_000)), 'larger than 64 KiB'),
  },
  {
    id: 'changed-env',
    who: 'local user',
    tries: 'writes another GFA_URL into a .env that others may change, or lays one into the folder',
    holds: 'no command uses it: each ends with 78 before the first request',
    begin: async () => {
      const directory = temporaryDirectory();
      const path = join(directory, '.env');
      writeFileSync(path, `GFA_URL=${GFA_URL}\n`);
      const refusals = async () => {
        for (const args of [
          [],
          ['--check-config'],
          ['--once'],
          ['--doctor'],
          ['--plan'],
          ['--backfill', '--since', '1d'],
        ]) {
          const { code, stderr } = await run(args, { directory, environment: { GFA_TOKEN: 'a-token' } });
          expect([code, args]).toEqual([78, args]);
          expect(stderr).toMatch(/^\.env: not used, because \.env /);
        }
      };
      chmodSync(path, 0o666);
      await refusals();
      if (process.getuid?.() !== 0) return;
      chmodSync(path, 0o600);
      chownSync(path, 4321, 4321);
      await refusals();
    },
  },
  {
    id: 'huge-state',
    who: 'local user',
    tries: 'lays a huge file in the place of the state file',
    holds: 'it is not read, because it is larger than a quarter of the heap, and moved aside',
    begin: async () => {
      const directory = temporaryDirectory();
      execFileSync('truncate', ['-s', '100M', join(directory, 'state')]);
      const { through, heap } = within(MEMORY_MIB);
      const environment = { GFA_URL, GFA_TOKEN: 'a-token', STATE_FILE: 'state', ...heap };
      const program = start([], { directory, environment, through });
      await program.serving(30_000);
      const isTold = ({ reason }: LogLine) => /^larger than \d+ bytes$/.test(String(reason));
      await until('the reason', () => program.log.some(isTold));
      program.kill('SIGTERM');
      expect((await program.ended).code).toBe(0);
    },
  },
];

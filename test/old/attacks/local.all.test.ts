// Only here: what another user of the machine can read or change.
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, lchownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '../../src/runtime/clock.ts';
import { SmallFileReader } from '../../src/runtime/small-files.ts';
import { runHere } from '../support/command.ts';
import { within } from '../support/machine.ts';
import { type LogLine, start, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { NOBODY } from '../web/asking.ts';
import { battery } from './battery.ts';
import { MEMORY_MIB, type Row } from './row.ts';

const { GFA_URL } = NOBODY;

/** Fails where a start with this as the file of its token does not end with 78, and with why. */
async function expectRefused(lay: (path: string) => unknown, why: string): Promise<void> {
  const path = join(temporaryDirectory(), 'token');
  lay(path);
  const line = `GFA_TOKEN_FILE: "${path}" cannot be read (${why}); expected the path of a file with the secret\n`;
  const { code, stderr } = await runHere([], { environment: { GFA_URL, GFA_TOKEN_FILE: path } });
  expect([code, stderr]).toEqual([78, line]);
}

/** What only the file of root contains. */
const HIDDEN = '/of-root';

/** Makes a file of its own, and a link to a file of root's, in turns for ever. */
const RACE = 'while :; do rm -f "$0"; printf %s GFA_URL=http://127.0.0.1:9/v1 >"$0"; rm -f "$0"; ln -s "$1" "$0"; done';

/** What a user of the same machine can try, or a program of it by mistake. */
const locals: readonly Row[] = [
  {
    id: 'named-pipe',
    tries: 'puts a named pipe in the place of a secret’s file',
    holds: 'the start ends at once with 78; a process that runs keeps the secret that it has, serves and stops',
    begin: () => expectRefused((path) => execFileSync('mkfifo', [path]), 'not a regular file'),
  },
  {
    id: 'named-pipe-later',
    tries: 'does so while the process runs, and the service asks for a new secret',
    holds: 'the process serves, and SIGTERM ends it',
    setup: { hasTokenFile: true, environment: { GFA_INTERVAL: '1s' } },
    play: async (stage) => {
      rmSync(stage.path('token'));
      execFileSync('mkfifo', [stage.path('token')]);
      const refused = stage.mocks.requests.length;
      const lift = stage.mocks.fail({ kind: 'status', status: 401, operation: 'data' });
      await until('the token to be refused', () =>
        stage.mocks.requests.slice(refused).some(({ operation, status }) => operation === 'data' && status === 401),
      );
      await stage.scrape();
      lift();
      stage.program.kill('SIGTERM');
      expect((await stage.program.ended).code).toBe(0);
    },
  },
  {
    id: 'huge-secret',
    tries: 'makes a secret’s file ten megabytes long',
    holds: 'more than 64 KiB are no secret: the start ends with 78',
    begin: () => expectRefused((path) => writeFileSync(path, 'a'.repeat(10_000_000)), 'larger than 64 KiB'),
  },
  {
    id: 'changed-env',
    tries: 'writes another GFA_URL into a .env that others may change, or lays one into the folder',
    holds: 'no command uses it: each ends with 78 before the first request',
    begin: async () => {
      const directory = temporaryDirectory();
      const path = join(directory, '.env');
      writeFileSync(path, `GFA_URL=${GFA_URL}\n`);
      const refused = async (...commands: readonly (readonly string[])[]) => {
        for (const args of commands) {
          const { code, stderr } = await runHere(args, { directory, environment: { GFA_TOKEN: 'a-token' } });
          expect([code, args]).toEqual([78, args]);
          expect(stderr).toMatch(/^\.env: not used, because \.env /);
        }
      };
      chmodSync(path, 0o666);
      const backfill = ['--backfill', '--since', '1d'];
      await refused([], ['--check-config'], ['--once'], ['--doctor'], ['--plan'], backfill);
      if (process.getuid?.() !== 0) return;
      chmodSync(path, 0o600);
      chownSync(path, 4321, 4321);
      await refused([]);
    },
  },
  {
    id: 'linked-env',
    tries: 'lays a link to a .env of root’s into a folder, or a folder above it, or changes it while it is read',
    holds: 'no link and no file of another user is used, in 1,000 reads: a start ends with 78 and names no address',
    begin: async () => {
      if (process.getuid?.() !== 0) return;
      const hidden = join(temporaryDirectory(), 'env');
      writeFileSync(hidden, `GFA_URL=${GFA_URL}${HIDDEN}\n`, { mode: 0o600 });
      const refused = async (directory: string) => {
        const { code, stdout, stderr } = await runHere(['--check-config'], {
          directory,
          environment: { GFA_TOKEN: 'a-token' },
        });
        expect([code, stdout]).toEqual([78, '']);
        return stderr;
      };
      const folders = {
        sticky: (path: string) => chmodSync(path, 0o1777),
        foreign: (path: string) => chownSync(path, 4321, 4321),
        'for all': (path: string) => chmodSync(path, 0o777),
      };
      for (const open of Object.values(folders)) {
        const directory = temporaryDirectory();
        symlinkSync(hidden, join(directory, '.env'));
        lchownSync(join(directory, '.env'), 4321, 4321);
        open(directory);
        expect(await refused(directory)).toContain('.env: cannot be read (a link of another user)\n');
      }
      // A file of root's, in a folder that others can replace.
      const above = temporaryDirectory();
      const below = join(above, 'below');
      mkdirSync(below);
      writeFileSync(join(below, '.env'), `GFA_URL=${GFA_URL}\n`, { mode: 0o600 });
      chmodSync(above, 0o777);
      expect(await refused(below)).toMatch(/^\.env: not used, because .* folder that other users can change: /);
      const directory = temporaryDirectory();
      chmodSync(directory, 0o1777);
      // A shell, because that user may not run a Node.js that is installed below the home of root.
      const racer = spawn('/bin/sh', ['-c', RACE, join(directory, '.env'), hidden], { uid: 4321, gid: 4321 });
      try {
        await refused(directory);
        // A start reads the file so, and rejects it by its owner.
        const files = new SmallFileReader(systemClock, 64 * 1024);
        const path = join(directory, '.env');
        const owners = new Set<number | undefined>();
        for (let reads = 0; reads < 1_000 || owners.size === 0; reads += 1) {
          const text = await files.read(path).catch(() => undefined);
          if (text !== undefined) owners.add(files.accessTo(path)?.uid);
          expect(text ?? '').not.toContain(HIDDEN);
        }
        expect([...owners]).toEqual([4321]);
        expect(racer.exitCode).toBe(null);
      } finally {
        racer.kill();
      }
    },
  },
  {
    id: 'huge-state',
    tries: 'lays a huge file in the place of the state file',
    holds: 'it is not read, because it is larger than a quarter of the heap, and moved aside',
    begin: async () => {
      const directory = temporaryDirectory();
      execFileSync('truncate', ['-s', '100M', join(directory, 'state')]);
      const { through, heap } = within(MEMORY_MIB);
      const environment = { GFA_URL, GFA_TOKEN: 'a-token', STATE_FILE: 'state', ...heap };
      const program = start([], { directory, environment, through });
      await program.serving();
      const isTold = ({ reason }: LogLine) => /^larger than \d+ bytes$/.test(String(reason));
      await until('the reason', () => program.log.some(isTold));
      program.kill('SIGTERM');
      expect((await program.ended).code).toBe(0);
    },
  },
];

battery('local user', locals);

import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { within } from '../support/machine.ts';
import { type LogLine, run, start, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';
import { NOBODY } from '../web/asking.ts';
import { MEMORY_MIB, type Row } from './row.ts';

const { GFA_URL } = NOBODY;

/** What a user of the same machine can try, or a program of it by mistake. */
export const locals: readonly Row[] = [
  {
    id: 'debugger',
    who: 'local user',
    tries: 'has Node’s debugger opened by SIGUSR1, and reads the secrets through it',
    holds: 'SIGUSR1 and SIGUSR2 do nothing',
    setup: {},
    play: async (stage) => {
      for (const name of ['SIGUSR1', 'SIGUSR2'] as const) stage.program.kill(name);
      await stage.scrape();
      await sleep(300);
      expect(stage.program.stderr).toBe('');
    },
  },
  {
    id: 'named-pipe',
    who: 'local user',
    tries: 'puts a named pipe in the place of a secret’s file',
    holds: 'the start ends at once with 78; a process that runs keeps the secret that it has, serves and stops',
    begin: async () => {
      const directory = temporaryDirectory();
      const path = join(directory, 'token');
      execFileSync('mkfifo', [path]);
      const { code, stderr } = await run([], { environment: { GFA_URL, GFA_TOKEN_FILE: path } });
      const expected = 'expected the path of a file with the secret';
      expect([code, stderr]).toEqual([
        78,
        `GFA_TOKEN_FILE: "${path}" cannot be read (not a regular file); ${expected}\n`,
      ]);
    },
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
    begin: async () => {
      const path = join(temporaryDirectory(), 'token');
      writeFileSync(path, 'a'.repeat(10_000_000), { mode: 0o600 });
      const { code, stderr } = await run([], { environment: { GFA_URL, GFA_TOKEN_FILE: path } });
      const expected = 'expected the path of a file with the secret';
      expect([code, stderr]).toEqual([
        78,
        `GFA_TOKEN_FILE: "${path}" cannot be read (larger than 64 KiB); ${expected}\n`,
      ]);
    },
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
    id: 'work-folder',
    who: 'local user',
    tries: 'prepares the work folder of --backfill: links, files that others can write, forged lines of progress',
    holds: 'it is rejected before anything in it is read or written',
    shownBy: ['history/backfill.test.ts', 'a work folder that somebody else can change'],
  },
  {
    id: 'state-link',
    who: 'local user',
    tries: 'lays a link by the name that the state is written to first',
    holds: 'the file is opened anew and follows no link',
    setup: { environment: { STATE_FILE: 'state' } },
    play: async (stage) => {
      await until('a first state', () => existsSync(stage.path('state')));
      writeFileSync(stage.path('precious'), 'precious');
      symlinkSync(stage.path('precious'), stage.path('state.tmp'));
      await stage.scrape();
      stage.program.kill('SIGTERM');
      expect((await stage.program.ended).code).toBe(0);
      expect(readFileSync(stage.path('precious'), 'utf8')).toBe('precious');
      expect(existsSync(stage.path('state.tmp'))).toBe(false);
    },
  },
  {
    id: 'endless-state',
    who: 'local user',
    tries: 'lays a link to a device without end, or a pipe, in the place of the state file',
    holds: 'it is moved aside, the log says why, and counting starts',
    shownBy: ['state/file-store.test.ts', 'that is %s is moved aside'],
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
  {
    id: 'readable-secrets',
    who: 'local user',
    tries: 'reads a secret from a file that everybody can read',
    holds: 'the start and --check-config warn of it',
    shownBy: ['process/loose-files.all.test.ts', 'that others can read gets a warning'],
  },
  {
    id: 'secrets-anywhere',
    who: 'local user',
    tries: 'looks for a secret in logs, pages, metrics, errors, crashes and what --check-config prints',
    holds: 'secrets leave the process only in the requests that need them',
    shownBy: ['process/secrets.all.test.ts', 'by services that repeat what they were sent'],
  },
  {
    id: 'core-dumps',
    who: 'local user',
    tries: 'reads secrets from a core dump or from swap',
    holds: 'the systemd unit lets none be written and bounds the swap',
    shownBy: ['deploy/systemd.all.test.ts', 'the unit writes no core dump and swaps nothing out'],
  },
  {
    id: 'unread-log',
    who: 'local user',
    tries: 'holds the pipe of the log open and never reads it',
    holds: 'above a megabyte lines are dropped and counted, and the count is logged once the log is read',
    shownBy: ['runtime/log.test.ts', 'drops lines instead of keeping them'],
  },
  {
    id: 'low-limits',
    who: 'local user',
    tries: 'starts the process with too few files or too little address space',
    holds: 'one sentence says which limit is too low, and the exit code is 1',
    shownBy: ['process/low-limits.test.ts', 'a limit of the process that is too low'],
  },
  {
    id: 'early-stop',
    who: 'local user',
    tries: 'stops the process while it starts',
    holds: 'it ends cleanly from its first instruction on',
    shownBy: ['process/signals.test.ts', 'turns after its first instruction'],
  },
  {
    id: 'shared-state',
    who: 'file',
    tries: 'has two instances write one state file',
    holds: 'the second says so and changes nothing until the first has ended, also if both begin at once',
    shownBy: ['state/file-store.test.ts', 'a second instance on one state file says so'],
  },
];

import { availableParallelism } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import LongestFirst from './support/longest-first.ts';

/** What `npm test` leaves to `npm run test:all`: see docs/contributing.md. */
const ALL = 'test/**/*.all.test.ts';

/** What both leave to `npm run explore`. */
const EXPLORED = 'test/**/*.explore.test.ts';

/**
 * Quick tests that Node.js itself can break: by its sockets, files, processes, threads, compression, timers and `parseEnv`.
 * Below these folders are parsers and arithmetic.
 */
const PLATFORM = [
  'test/{attacks,exposition,http,process,state,transport,web}/*.test.ts',
  'test/{config/dotenv,config/file-secrets,runtime/clock,runtime/log}.test.ts',
];

const cores = Math.max(2, availableParallelism());

/**
 * Quick tests that are worth another run on another Node.js: `.ci/run` runs them beside all others of `all`. Only there is it
 * a project, because everybody else would run their files twice.
 */
const platform: TestProjectInlineConfiguration[] = process.argv.includes('--project=platform')
  ? [
      {
        extends: true,
        test: {
          name: 'platform',
          include: PLATFORM,
          exclude: [...configDefaults.exclude, ALL, EXPLORED],
          maxWorkers: cores + 3,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ]
  : [];

// The file is here and not at the top, so the scripts of package.json name it.
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    // Real processes and sockets need longer than the default on a busy machine; nothing waits this long on purpose.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    sequence: { sequencer: LongestFirst },
    // Most of what a simulated life makes is soon garbage. With room for it, collecting costs half: a tenth of all.
    execArgv: ['--min-semi-space-size=32', '--max-semi-space-size=64'],
    reporters: ['default', fileURLToPath(new URL('support/slowest-files.ts', import.meta.url))],
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ALL, EXPLORED],
          // One more than there are cores: some tests wait for a process or a time-out of their own.
          maxWorkers: cores + 1,
          // Files of one worker share the program's modules: loading them for each file is a fifth of the work. So none
          // may replace a module (`vi.mock`), and what one changes of a prototype it puts back.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'all',
          include: [ALL],
          exclude: configDefaults.exclude,
          globalSetup: fileURLToPath(new URL('tools/install.ts', import.meta.url)),
          // Three more than there are cores: most of them wait for processes of their own.
          maxWorkers: cores + 3,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
      ...platform,
      {
        extends: true,
        test: {
          name: 'explore',
          include: [EXPLORED],
          maxWorkers: cores + 1,
          maxConcurrency: 9,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const cores = Math.max(2, availableParallelism());

const NEEDS_CHROMIUM = 'test/process/status-page.test.ts';

/** `npm test` runs `quick`; `.ci/run` also runs `all`, whose programs it installs. docs/contributing.md says which test belongs where. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Faster than processes, and no test changes the process that it runs in.
    pool: 'threads',
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/{unit,golden,scenario,process}/**/*.test.ts'],
          exclude: [NEEDS_CHROMIUM],
          // Tests of processes mostly wait.
          maxWorkers: cores + 1,
          // Files of one worker share the program's modules, so no test may replace a module.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'all',
          include: ['test/{prometheus,deploy}/**/*.test.ts', NEEDS_CHROMIUM],
          maxWorkers: cores + 2,
          isolate: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

/** The fault battery: each of its files drives processes of its own, and waits far more than it works. */
const BATTERY = 'test/faults/**/*.test.ts';

/** What starts the built program, and other programs beside it: it waits more than it works, too. */
const PROGRAMS = ['process', 'web', 'deploy', 'e2e', 'browser'].map((folder) => `test/${folder}/**/*.test.ts`);

/** Globs of tests that are left out, with blanks between them: `--exclude` does not reach the projects. */
const leftOut = process.env.LEFT_OUT?.split(' ') ?? [];

// It lives here and not at the top, so `npm test` names it. A bare `npx vitest run` works too, with vitest's own limits.
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    // Real processes and sockets need longer than the default on a small machine; nothing waits this long on purpose.
    testTimeout: 20_000,
    hookTimeout: 30_000,
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...PROGRAMS, BATTERY, ...leftOut],
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'programs',
          include: PROGRAMS,
          exclude: [...configDefaults.exclude, ...leftOut],
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        // Behind the others: one of its rows that is late is tried again, which takes long.
        test: {
          name: 'faults',
          include: [BATTERY],
          exclude: [...configDefaults.exclude, ...leftOut],
          maxWorkers: 3,
          // Rows at once: rather more than there are processes for, so that nobody waits behind one that waits.
          maxConcurrency: 9,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});

import { availableParallelism } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// In UTC, a date without a zone that is read in the zone of the machine would seem right.
process.env.TZ = 'Asia/Kolkata';

const cores = Math.max(2, availableParallelism());

const NEEDS_CHROMIUM = 'test/process/status-page.test.ts';

/** Tests of processes mostly wait, so they wait while others compute, and not at the end. */
class ProcessesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isOfProcess = ({ moduleId }: TestSpecification) => moduleId.includes('/test/process/');
    return [...sorted.filter(isOfProcess), ...sorted.filter((file) => !isOfProcess(file))];
  }
}

/** `npm test` runs `quick`; `.ci/run` also runs `all`, whose programs it installs. docs/contributing.md says which test belongs where. */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Faster than processes, and no test changes the process that it runs in.
    pool: 'threads',
    sequence: { sequencer: ProcessesFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/{unit,golden,scenario,process}/**/*.test.ts'],
          exclude: [NEEDS_CHROMIUM],
          // One more, because tests of processes mostly wait.
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

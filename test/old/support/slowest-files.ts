import process from 'node:process';
import type { Reporter, TestModule } from 'vitest/node';

const LISTED = 10;

/** Prints the files that took longest, with their seconds: collecting, hooks and tests. */
export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({ name: module.relativeModuleId, seconds: secondsOf(module) }));
    if (files.length <= LISTED) return;
    const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, LISTED);
    const lines = slowest.map(({ name, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${name}`);
    process.stdout.write(`\nThe ${LISTED} slowest of ${files.length} files\n${lines.join('\n')}\n`);
  }
}

function secondsOf(module: TestModule): number {
  const { duration, collectDuration, setupDuration, prepareDuration } = module.diagnostic();
  return (duration + collectDuration + setupDuration + prepareDuration) / 1000;
}

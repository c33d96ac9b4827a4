import process from 'node:process';
import { certificateWarnings, readGuard } from '../app/guard.ts';
import type { Config } from '../config/config.ts';
import { effectiveConfiguration } from '../config/describe.ts';
import { looseFiles } from '../config/file-permissions.ts';
import { placeholderFaults, stateFileFaults } from '../config/readiness.ts';
import { systemClock } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/errors.ts';
import { EXIT } from './arguments.ts';
import { ownFiles, serviceSections, webFiles } from './configuration.ts';
import { say } from './process.ts';

/** Prints all of it, or nothing if it was stopped before: a script must not take that for a valid configuration. */
export async function checkConfig(config: Config, stopped: AbortSignal): Promise<number> {
  const guard = await readGuard(config.web, webFiles.read);
  const warnings = [
    ...config.warnings,
    ...(await looseFiles(ownFiles(config, guard))),
    ...certificateWarnings(guard, systemClock.now() / 1000),
  ];
  const faults = [...placeholderFaults(config, serviceSections), ...(await stateFileFaults(config.stateFile))];
  if (stopped.aborted) return EXIT.failure;
  for (const line of warnings) process.stderr.write(`warning: ${line}\n`);
  say(effectiveConfiguration(config, serviceSections));
  if (faults.length > 0) throw new ConfigError(faults);
  return say('# the configuration is valid');
}

import process from 'node:process';
import { certificateWarnings, readGuard } from '../app/guard.ts';
import type { Config } from '../config/config.ts';
import { effectiveConfiguration } from '../config/describe.ts';
import { looseFiles } from '../config/file-permissions.ts';
import { placeholderFaults, stateFileFaults } from '../config/readiness.ts';
import { systemClock } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/errors.ts';
import { ownFiles, serviceSections, webFiles } from './configuration.ts';
import { say } from './process.ts';

export async function checkConfig(config: Config): Promise<number> {
  const guard = await readGuard(config.web, webFiles.read);
  const warnings = [
    ...config.warnings,
    ...(await looseFiles(ownFiles(config, guard))).map(({ reason }) => reason),
    ...certificateWarnings(guard, systemClock.now() / 1000),
  ];
  for (const line of warnings) process.stderr.write(`warning: ${line}\n`);
  say(effectiveConfiguration(config, serviceSections));
  const faults = [...placeholderFaults(config, serviceSections), ...(await stateFileFaults(config.stateFile))];
  if (faults.length > 0) throw new ConfigError(faults);
  return say('# the configuration is valid');
}

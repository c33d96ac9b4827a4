import process from 'node:process';
import { stateFileErrors, stateFolderErrors } from '../app/state-file.ts';
import { certificateWarnings, readWebConfig } from '../app/web-access.ts';
import type { Config } from '../config/config.ts';
import { effectiveConfiguration } from '../config/describe.ts';
import { findPermissiveFiles } from '../config/file-permissions.ts';
import { placeholderErrors } from '../config/readiness.ts';
import { systemClock } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/errors.ts';
import { EXIT } from './arguments.ts';
import { accessTo, ownFiles, serviceSections, webFiles } from './load.ts';
import { print } from './system-environment.ts';

export async function checkConfig(config: Config): Promise<number> {
  const guard = await readWebConfig(config.web, webFiles);
  const warnings = [
    ...config.warnings,
    ...findPermissiveFiles(ownFiles(config, guard), accessTo).map(({ reason }) => reason),
    ...certificateWarnings(guard, systemClock.now() / 1000),
  ];
  for (const line of warnings) process.stderr.write(`warning: ${line}\n`);
  await print(effectiveConfiguration(config, serviceSections));
  const errors = [
    ...placeholderErrors(config, serviceSections),
    ...(await stateFileErrors(config.stateFile)),
    ...(await stateFolderErrors(config.stateFile)),
  ];
  if (errors.length > 0) throw new ConfigError(errors);
  await print('# the configuration is valid');
  return EXIT.clean;
}

import { stateFileErrors, stateFolderErrors } from '../app/state-file.ts';
import { certificateWarnings, readWebConfig } from '../app/web-access.ts';
import type { Config } from '../config/config.ts';
import { effectiveConfiguration } from '../config/describe.ts';
import { looseFiles } from '../config/file-permissions.ts';
import { systemClock } from '../runtime/clock.ts';
import { ConfigError } from '../runtime/errors.ts';
import { EXIT } from './arguments.ts';
import { ownFiles, printWarnings, readFile, serviceSections } from './load.ts';
import { print } from './system-environment.ts';

export async function checkConfig(config: Config): Promise<number> {
  const guard = await readWebConfig(config.web, readFile);
  const loose = await looseFiles(ownFiles(config, guard));
  printWarnings([
    ...config.warnings,
    ...loose.map(({ reason }) => reason),
    ...certificateWarnings(guard, systemClock.now() / 1000),
  ]);
  await print(effectiveConfiguration(config, serviceSections));
  const errors = [
    ...placeholderErrors(config),
    ...(await stateFileErrors(config.stateFile)),
    ...(await stateFolderErrors(config.stateFile)),
  ];
  if (errors.length > 0) throw new ConfigError(errors);
  await print('# the configuration is valid');
  return EXIT.clean;
}

/** Matches what examples contain in the place of a secret. */
const PLACEHOLDER = /^(?:(?:replace|change)[-_ ]?(?:me|this)|your[-_ ].*|<.*>|x{3,}|secret|token|password|todo)$/i;

function placeholderErrors({ secrets }: Config): readonly string[] {
  return [...secrets]
    .filter(([, secret]) => PLACEHOLDER.test(secret.reveal()))
    .map(([name]) => `${name}: is the placeholder of an example; expected the value that the service issued`);
}

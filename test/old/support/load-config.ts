import type { Config } from '../../src/config/config.ts';
import { mergeDotenv } from '../../src/config/dotenv.ts';
import { allVariables, configOf } from '../../src/config/load.ts';
import type { ServiceSection } from '../../src/config/section.ts';
import { asError } from '../../src/runtime/errors.ts';
import type { ReadText } from '../../src/runtime/small-files.ts';
import { services as allServices } from '../../src/services/services.ts';

/** There is no file. */
const noFile = (): never => {
  throw Object.assign(new Error('no files here'), { code: 'ENOENT' });
};

/** The configuration of these variables and files, at once. */
export function loadConfig({
  environment,
  readFile = noFile,
  readAgain = async (path) => readFile(path),
  services = allServices.map(({ section }) => section),
}: {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly readFile?: (path: string) => string;
  readonly readAgain?: ReadText;
  readonly services?: readonly ServiceSection[];
}): Config {
  const content = () => {
    try {
      return readFile('.env');
    } catch (error) {
      return asError(error);
    }
  };
  return configOf(mergeDotenv(environment, content(), allVariables(services)), services, readFile, readAgain);
}

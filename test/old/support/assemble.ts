import { readFileSync } from 'node:fs';
import process from 'node:process';
import { type App, createApp } from '../../src/app/app.ts';
import type { Environment } from '../../src/app/environment.ts';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import { type ConfiguredService, polledServices } from '../../src/services/services.ts';
import { loadConfig } from './load-config.ts';

/** What of the environment a test has to hand in; chance comes from a seed where it hands in none. */
export type Given = Pick<Environment, 'clock' | 'log'> &
  Partial<Environment> & {
    /** Replaces the services that the variables name. */
    readonly services?: (named: readonly ConfiguredService[]) => readonly ConfiguredService[];
  };

/** The whole program but for the process, as variables configure it, on any free port; not yet started. */
export function assemble(variables: Readonly<Record<string, string>>, given: Given): App {
  const config = loadConfig({
    environment: { LISTEN_ADDRESS: '127.0.0.1:0', ...variables },
    readFile: (path) => readFileSync(path === '.env' ? '/nowhere/.env' : path, 'utf8'),
  });
  const versions = { version: '0.0.0', revision: 'test', nodeVersion: process.version };
  const { services = (named) => named, ...environment } = given;
  return createApp(services(polledServices(config)), config, { random: seededRandom(1), ...versions, ...environment });
}

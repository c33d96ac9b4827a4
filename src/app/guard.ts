import type { WebConfig } from '../config/config.ts';
import type { FactsOf } from '../config/secret-files.ts';
import { ConfigError } from '../runtime/errors.ts';
import { unpredictableKey } from '../runtime/random.ts';
import { WebFront } from '../web/front.ts';
import { PasswordThread } from '../web/password-thread.ts';
import { Passwords } from '../web/passwords.ts';
import { type GoodReading, type ReadText, readWebRules } from '../web/rules.ts';
import type { Outside } from './environment.ts';

/** What `WEB_CONFIG_FILE` asks for, read and good, and how it is read again. */
export interface Guard {
  readonly path: string;
  readonly read: ReadText;
  readonly factsOf: FactsOf;
  readonly first: GoodReading;
}

/** Reads what `WEB_CONFIG_FILE` names; undefined where it is not set. Rejects with a ConfigError for what cannot be used. */
export async function readGuard(web: WebConfig, read: ReadText, factsOf: FactsOf): Promise<Guard | undefined> {
  const path = web.configFile;
  if (path === undefined) return undefined;
  const reading = await readWebRules(path, read);
  if (reading.state === 'bad') throw new ConfigError(reading.faults.map((fault) => `WEB_CONFIG_FILE: ${fault}`));
  return { path, read, factsOf, first: reading };
}

/** The front that stands before the pages. */
export function webFront({ openPaths }: WebConfig, { first }: Guard, { clock, log }: Outside): WebFront {
  const passwords = new Passwords(new PasswordThread().compare, unpredictableKey());
  const open = { paths: new Set(openPaths.paths), withoutCertificate: openPaths.named && openPaths.paths.length > 0 };
  return new WebFront(first.rules, passwords, open, { clock, log });
}

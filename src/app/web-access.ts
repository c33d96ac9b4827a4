import type { Config } from '../config/config.ts';
import { warnOfLooseFiles } from '../config/file-permissions.ts';
import { ConfigError } from '../runtime/errors.ts';
import { randomKey } from '../runtime/random.ts';
import type { SmallFileReader } from '../runtime/small-files.ts';
import { WebFront } from '../web/front.ts';
import { PasswordThread } from '../web/password-thread.ts';
import { Passwords } from '../web/passwords.ts';
import { Reloading, type ReloadingOptions } from '../web/reloading.ts';
import { readWebRules, type WebRules } from '../web/rules.ts';
import type { Environment } from './environment.ts';

/** The content of `WEB_CONFIG_FILE`, valid, and how to read it again. */
export type WebConfigFile = Pick<ReloadingOptions, 'path' | 'read' | 'first'> & Pick<SmallFileReader, 'accessTo'>;

/** Reads `WEB_CONFIG_FILE`; undefined if it is not set. Rejects with a ConfigError if it is not valid. */
export async function readWebConfig(web: Config['web'], files: SmallFileReader): Promise<WebConfigFile | undefined> {
  const path = web.configFile;
  if (path === undefined) return undefined;
  const reading = await readWebRules(path, files.read);
  if (reading.state === 'bad') throw new ConfigError(reading.faults.map((fault) => `WEB_CONFIG_FILE: ${fault}`));
  return { path, read: files.read, first: reading, accessTo: files.accessTo };
}

export function certificateWarnings(guard: WebConfigFile | undefined, nowSeconds: number): readonly string[] {
  const { tls } = guard?.first.rules ?? {};
  if (tls === undefined) return [];
  const warning = (state: string, seconds: number) =>
    `WEB_CONFIG_FILE: the server certificate ${state} ${new Date(seconds * 1000).toISOString()}; expected one valid now`;
  if (tls.expirySeconds < nowSeconds) return [warning('expired on', tls.expirySeconds)];
  return tls.validFromSeconds > nowSeconds ? [warning('is not valid before', tls.validFromSeconds)] : [];
}

export type WebAccess = ReturnType<typeof createWebAccess>;

export function createWebAccess(
  { openPaths, maxConnections }: Config['web'],
  guard: WebConfigFile,
  { clock, log }: Environment,
) {
  // A waiting client holds a connection; half of the connections stay free for others.
  const maxWaiting = Math.ceil(maxConnections / 2);
  const passwords = new Passwords(new PasswordThread().compare, randomKey(), maxWaiting);
  const open = { paths: new Set(openPaths.paths), withoutCertificate: openPaths.named && openPaths.paths.length > 0 };
  const front = new WebFront(guard.first.rules, passwords, open, { clock, log });
  const adopt = async (rules: WebRules) => {
    front.adopt(rules);
    warnOfLooseFiles(rules.ownFiles, guard.accessTo, log);
  };
  return { front, reloading: new Reloading({ ...guard, adopt, clock, log }) };
}

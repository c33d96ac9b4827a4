import type { Config } from '../config/config.ts';
import { ConfigError } from '../runtime/errors.ts';
import { randomKey } from '../runtime/random.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { AccessControl } from '../web/access-control.ts';
import { compareInThread, PasswordChecker } from '../web/passwords.ts';
import type { WebServer } from '../web/server.ts';
import { readWebRules } from '../web/web-config.ts';
import { type ReloaderOptions, WebConfigReloader } from '../web/web-config-reloader.ts';
import type { Environment } from './environment.ts';

/** The content of `WEB_CONFIG_FILE`, valid, and how to read it again. */
export type WebConfigFile = Pick<ReloaderOptions, 'path' | 'read' | 'first'>;

/** Reads `WEB_CONFIG_FILE`; undefined if it is not set. Rejects with a ConfigError if it is not valid. */
export async function readWebConfig(web: Config['web'], read: ReadText): Promise<WebConfigFile | undefined> {
  const path = web.configFile;
  if (path === undefined) return undefined;
  const result = await readWebRules(path, read);
  if (result.state === 'invalid') throw new ConfigError(result.errors.map((error) => `WEB_CONFIG_FILE: ${error}`));
  return { path, read, first: result };
}

export function certificateWarnings(file: WebConfigFile | undefined, nowSeconds: number): readonly string[] {
  const { tls } = file?.first.rules ?? {};
  if (tls === undefined) return [];
  const warning = (state: string, seconds: number) =>
    `WEB_CONFIG_FILE: the server certificate ${state} ${new Date(seconds * 1000).toISOString()}; expected one valid now`;
  if (tls.expirySeconds < nowSeconds) return [warning('expired on', tls.expirySeconds)];
  return tls.validFromSeconds > nowSeconds ? [warning('is not valid before', tls.validFromSeconds)] : [];
}

export function createAccessControl({ first }: WebConfigFile, { clock }: Environment): AccessControl {
  return new AccessControl(first.rules, new PasswordChecker(compareInThread, randomKey()), clock);
}

export function createReloader(file: WebConfigFile, server: WebServer, { clock, log }: Environment): WebConfigReloader {
  return new WebConfigReloader({
    ...file,
    adopt: (rules) => server.adopt(rules),
    clock,
    log,
  });
}

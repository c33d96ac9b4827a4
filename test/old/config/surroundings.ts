import { expect } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { ConfigError } from '../../src/runtime/errors.ts';
import { type GfaSettings, gfaSection } from '../../src/services/gfa/configuration.ts';
import { type PortalSettings, portalSection } from '../../src/services/portal/configuration.ts';
import { loadConfig } from '../support/load-config.ts';

/** Variables by name, as a process gets them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Texts by path: the files there are. A test may replace one, as a rotation would. */
export type Files = Record<string, string>;

/** The least that polls the file acceleration telemetry service. */
export const gfaOnly = { GFA_URL: 'https://gfa.example.com/v1', GFA_TOKEN: 'token-canary' };

/** The least that polls the portal. */
export const portalOnly = { PORTAL_URL: 'https://portal.example.com', PORTAL_USER_KEY: 'user-canary' };

/** The least that polls both. */
export const both = { ...gfaOnly, ...portalOnly };

/** An error as the file system throws it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: something about a path`), { code });
}

/** Reads what there is, and ENOENT for the rest. */
export function reader(files: Files): (path: string) => string {
  return (path) => {
    const content = files[path];
    if (content === undefined) throw systemError('ENOENT');
    return content;
  };
}

/** Both services. */
export const services = [gfaSection, portalSection] as const;

/** A configuration, and what it says of the two services. */
export interface BothConfig extends Config {
  readonly gfa: GfaSettings | undefined;
  readonly portal: PortalSettings | undefined;
}

/** The configuration of this environment and these files. */
export function configOf(environment: Environment, files: Files = {}): BothConfig {
  const config = loadConfig({ environment, readFile: reader(files), services });
  return { ...config, gfa: gfaSection.of(config), portal: portalSection.of(config) };
}

/** The lines about this environment and these files; none when there is nothing wrong. */
export function errorsOf(environment: Environment, files: Files = {}): readonly string[] {
  try {
    configOf(environment, files);
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return error instanceof ConfigError ? error.errors : [];
  }
}

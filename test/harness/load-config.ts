import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/runtime/errors.ts';
import { type GfaSettings, gfaSection } from '../../src/services/gfa/configuration.ts';
import { type PortalSettings, portalSection } from '../../src/services/portal/settings.ts';

/** Variables by name, as a process gets them. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Texts by path. A test may replace one, as a rotation does. */
export type Files = Record<string, string>;

const sections = [gfaSection, portalSection] as const;

/** The fewest variables that poll file acceleration, the portal, and both. */
export const gfaOnly = { GFA_URL: 'https://gfa.example.com/v1', GFA_TOKEN: 'token-canary' };
export const portalOnly = { PORTAL_URL: 'https://portal.example.com', PORTAL_USER_KEY: 'user-canary' };
export const both = { ...gfaOnly, ...portalOnly };

export interface BothConfig extends Config {
  readonly gfa: GfaSettings | undefined;
  readonly portal: PortalSettings | undefined;
}

/** Rejects with a ConfigError, as at the start of the program. */
export async function configOf(variables: Variables, files: Files = {}): Promise<BothConfig> {
  const read = async (path: string) => {
    const content = files[path];
    if (content === undefined) throw Object.assign(new Error(`${path} is missing`), { code: 'ENOENT' });
    return content;
  };
  const config = await loadConfig(variables, sections, read);
  return { ...config, gfa: gfaSection.of(config), portal: portalSection.of(config) };
}

/** The error lines; none if the configuration is valid. */
export async function errorsOf(variables: Variables, files: Files = {}): Promise<readonly string[]> {
  try {
    await configOf(variables, files);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.errors;
    throw error;
  }
}

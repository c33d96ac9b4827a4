import { dirname, resolve } from 'node:path';
import { ConfigError, errorCode } from '../runtime/errors.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { type TlsRules, tlsRules } from './tls.ts';

/** Admits `burst` requests at once, then one more each interval. */
export interface ClientRateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}

/** What a web configuration file requires of clients, and what every response has. */
export interface WebRules {
  /** Undefined serves plain HTTP. */
  readonly tls: TlsRules | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** Password hashes by user; without users no password is required. */
  readonly users: ReadonlyMap<string, string>;
  /** Undefined for no limit. */
  readonly rateLimit: ClientRateLimit | undefined;
}

/** A web configuration file, and the files that it names, each path relative to its folder. */
export class WebConfigFile {
  readonly path: string;
  readonly #readText: ReadText;
  /** What each file contained when it was read last; undefined if it could not be read. */
  readonly #contents = new Map<string, string | undefined>();

  constructor(path: string, readText: ReadText) {
    this.path = resolve(path);
    this.#readText = readText;
  }

  /** Rejects with a ConfigError if a file is not valid or cannot be read. */
  async readRules(): Promise<WebRules> {
    this.#contents.clear();
    const text = await this.#read(this.path, 'the file');
    // Loaded only when needed: the YAML parser would be a tenth of every start.
    const { goDurationMs, parseWebFile } = await import('./web-config-schema.ts');
    const { tls_server_config: section = {}, http_server_config: http, ...file } = parseWebFile(text);
    const absolute = (named: string) => resolve(dirname(this.path), named);
    const pemOf = async (key: 'cert' | 'key' | 'client_ca') => {
      const { [key]: inline, [`${key}_file` as const]: named } = section;
      return named === undefined ? inline : this.#read(absolute(named), `${key}_file`);
    };
    const [cert, key, ca] = [await pemOf('cert'), await pemOf('key'), await pemOf('client_ca')];
    const tls = cert === undefined || key === undefined ? undefined : tlsRules(section, { cert, key, ca });
    const users = new Map(Object.entries(file.basic_auth_users ?? {}));
    // As in the toolkit: an interval of zero is no limit, and a missing burst is zero, which admits no request.
    const { interval = 0, burst = 0 } = file.rate_limit ?? {};
    const intervalMs = goDurationMs(String(interval));
    const rateLimit = intervalMs === 0 ? undefined : { intervalMs, burst };
    return { tls, headers: http?.headers ?? {}, users, rateLimit };
  }

  /** Whether a file is not as it was when it was read last. Never rejects. */
  async hasChanged(): Promise<boolean> {
    for (const [path, content] of this.#contents) {
      const present = await this.#readText(path).catch(() => undefined);
      if (present !== content) return true;
    }
    return false;
  }

  /** `name` says in an error which file it is. */
  async #read(path: string, name: string): Promise<string> {
    this.#contents.set(path, undefined);
    const text = await this.#readText(path).catch((error: unknown) => {
      throw new ConfigError([`${name} ${path} cannot be read (${errorCode(error) ?? 'unknown reason'})`]);
    });
    this.#contents.set(path, text);
    return text;
  }
}

/** `WEB_CONFIG_FILE`, and what it required at the start. */
export interface WebConfig {
  readonly file: WebConfigFile;
  readonly rules: WebRules;
}

/** Reads `WEB_CONFIG_FILE`; undefined if it is not set. Rejects with a ConfigError if it is not valid. */
export async function readWebConfig(path: string | undefined, readText: ReadText): Promise<WebConfig | undefined> {
  if (path === undefined) return undefined;
  const file = new WebConfigFile(path, readText);
  try {
    return { file, rules: await file.readRules() };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.errors.map((text) => `WEB_CONFIG_FILE: ${text}`));
  }
}

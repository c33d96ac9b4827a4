import { dirname, resolve } from 'node:path';
import { parseDuration } from '../config/duration.ts';
import { ConfigError, errorCode } from '../runtime/errors.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { type Pem, type TlsRules, tlsRules } from './tls.ts';
import type { WebFile } from './web-config-schema.ts';

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

/** The content of each file that was read, by its path; undefined if it cannot be read. */
type Contents = ReadonlyMap<string, string | undefined>;

export interface ValidWebConfig {
  readonly state: 'valid';
  readonly rules: WebRules;
  readonly contents: Contents;
}

export type WebConfigResult =
  | ValidWebConfig
  | { readonly state: 'invalid'; readonly errors: readonly string[]; readonly contents: Contents };

/** Reads a file and notes its content; `name` says in an error which file it is. */
type ReadNoted = (path: string, name: string) => Promise<string>;

/** Reads a web configuration and the files that it names, each path relative to its folder. */
export async function readWebRules(path: string, read: ReadText): Promise<WebConfigResult> {
  const contents = new Map<string, string | undefined>();
  const readNoted: ReadNoted = async (file, name) => {
    contents.set(file, undefined);
    const text = await read(file).catch((error: unknown) => {
      throw new ConfigError([`${name} ${file} cannot be read (${errorCode(error) ?? 'unknown reason'})`]);
    });
    contents.set(file, text);
    return text;
  };
  try {
    return { state: 'valid', rules: await rulesOf(resolve(path), readNoted), contents };
  } catch (error) {
    if (error instanceof ConfigError) return { state: 'invalid', errors: error.errors, contents };
    throw error;
  }
}

/** Returns the present content of files, to compare with the one that they had. Never rejects. */
export async function contentsOf(paths: readonly string[], read: ReadText): Promise<Contents> {
  const reads = paths.map(async (path) => [path, await read(path).catch(() => undefined)] as const);
  return new Map(await Promise.all(reads));
}

async function rulesOf(path: string, read: ReadNoted): Promise<WebRules> {
  const text = await read(path, 'the file');
  // Loaded only when needed: the YAML parser would be a tenth of every start.
  const { parseWebFile } = await import('./web-config-schema.ts');
  const file = parseWebFile(text);
  const { tls_server_config: section = {}, http_server_config: http = {}, basic_auth_users: hashes = {} } = file;
  const absolute = (named: string) => resolve(dirname(path), named);
  const pemOf = async (key: 'cert' | 'key' | 'client_ca'): Promise<Pem | undefined> => {
    const { [key]: inline, [`${key}_file` as const]: named } = section;
    if (inline !== undefined) return { name: key, text: inline };
    if (named === undefined) return undefined;
    return { name: `${key}_file ${named}`, text: await read(absolute(named), `${key}_file`) };
  };
  const [cert, key, clientCa] = [await pemOf('cert'), await pemOf('key'), await pemOf('client_ca')];
  const tls = cert && key && tlsRules(section, { cert, key, clientCa });
  const users = new Map(Object.entries(hashes));
  return { tls, headers: http.headers ?? {}, users, rateLimit: rateLimitOf(file) };
}

/** As in the toolkit: an interval of zero is no limit, and a missing burst is zero, which admits no request. */
function rateLimitOf({ rate_limit: { interval = 0, burst = 0 } = {} }: WebFile): ClientRateLimit | undefined {
  const intervalMs = parseDuration(String(interval)) ?? 0;
  return intervalMs === 0 ? undefined : { intervalMs, burst };
}

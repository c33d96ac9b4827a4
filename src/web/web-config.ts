import { dirname, resolve } from 'node:path';
import { parseDuration } from '../config/duration.ts';
import { errorCode } from '../runtime/errors.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { type Pem, type TlsRules, tlsRules } from './tls.ts';
import type { TlsServerConfig, WebFile } from './web-config-schema.ts';

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
  /** The file itself and the key file: only their owner may write them, or read them if they contain a secret. */
  readonly ownFiles: readonly { readonly path: string; readonly isSecret: boolean }[];
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

/** Reads a web configuration and the files that it names, each path relative to its folder. Never rejects. */
export async function readWebRules(path: string, read: ReadText): Promise<WebConfigResult> {
  const reader = new ConfigReader(resolve(path), read);
  const rules = await reader.rules();
  const { errors, contents } = reader;
  return rules === undefined || errors.length > 0
    ? { state: 'invalid', errors, contents }
    : { state: 'valid', rules, contents };
}

/** Returns the present content of files, to compare with the one that they had. Never rejects. */
export async function contentsOf(paths: readonly string[], read: ReadText): Promise<Contents> {
  const reads = paths.map(async (path) => [path, await read(path).catch(() => undefined)] as const);
  return new Map(await Promise.all(reads));
}

/** Reads the files of one configuration, and notes what was wrong with them. */
class ConfigReader {
  readonly #path: string;
  readonly #read: ReadText;
  readonly contents = new Map<string, string | undefined>();
  readonly errors: string[] = [];

  constructor(path: string, read: ReadText) {
    this.#path = path;
    this.#read = read;
  }

  /** Returns undefined if there are errors. */
  async rules(): Promise<WebRules | undefined> {
    const text = await this.#textOf(this.#path, 'the file');
    if (text === undefined) return undefined;
    // Loaded only when needed: the YAML parser would be a tenth of every start.
    const { parseWebFile } = await import('./web-config-schema.ts');
    const file = parseWebFile(text, this.errors);
    if (file === undefined) return undefined;
    const { tls_server_config: section = {}, http_server_config: http = {}, basic_auth_users: hashes = {} } = file;
    const tls = await this.#tlsRules(section);
    const users = new Map(Object.entries(hashes));
    const ownFiles = [{ path: this.#path, isSecret: users.size > 0 || section.key !== undefined }];
    if (section.key_file !== undefined) ownFiles.push({ path: this.#absolute(section.key_file), isSecret: true });
    return { tls, headers: http.headers ?? {}, users, rateLimit: rateLimitOf(file), ownFiles };
  }

  /** Returns undefined if there is no TLS, or if there are errors. */
  async #tlsRules(section: TlsServerConfig): Promise<TlsRules | undefined> {
    const cert = await this.#pemOf(section, 'cert');
    const key = await this.#pemOf(section, 'key');
    const clientCa = await this.#pemOf(section, 'client_ca');
    if (this.errors.length > 0 || cert === undefined || key === undefined) return undefined;
    return tlsRules(section, { cert, key, clientCa }, this.errors);
  }

  async #pemOf(section: TlsServerConfig, key: 'cert' | 'key' | 'client_ca'): Promise<Pem | undefined> {
    const { [key]: inline, [`${key}_file` as const]: path } = section;
    if (inline !== undefined) return { name: key, text: inline };
    if (path === undefined) return undefined;
    const text = await this.#textOf(this.#absolute(path), `${key}_file`);
    return text === undefined ? undefined : { name: `${key}_file ${path}`, text };
  }

  async #textOf(path: string, name: string): Promise<string | undefined> {
    const text = await this.#read(path).catch((error: unknown) => {
      this.errors.push(`${name} ${path} cannot be read (${errorCode(error) ?? 'unknown reason'})`);
      return undefined;
    });
    this.contents.set(path, text);
    return text;
  }

  #absolute(path: string): string {
    return resolve(dirname(this.#path), path);
  }
}

/** As in the toolkit: an interval of zero is no limit, and a missing burst is zero, which admits no request. */
function rateLimitOf({ rate_limit: { interval = 0, burst = 0 } = {} }: WebFile): ClientRateLimit | undefined {
  const intervalMs = parseDuration(String(interval)) ?? 0;
  return intervalMs === 0 ? undefined : { intervalMs, burst };
}

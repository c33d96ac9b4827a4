import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { type PemSource, parseWebFile, type TlsSection } from './file-format.ts';
import type { ClientRateLimit } from './rate-limit.ts';
import { type PemTexts, type TlsSettings, tlsSettings } from './tls.ts';

/** A web configuration in effect: TLS, who is admitted, and the headers of each answer. */
export interface WebRules {
  /** Undefined serves plain HTTP. */
  readonly tls: TlsSettings | undefined;
  readonly users: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for no limit. */
  readonly rate: ClientRateLimit | undefined;
  /** The file itself and the key file: only their owner may write them, or read them if they contain a secret. */
  readonly ownFiles: readonly { readonly path: string; readonly isSecret: boolean }[];
}

/** What the rules require of a client, in words. */
export function protectionsOf({ tls, users }: WebRules): readonly string[] {
  const { required = false, verified = false } = tls?.client ?? {};
  const asked: readonly (readonly [boolean, string])[] = [
    [tls !== undefined, 'TLS'],
    [required, 'client certificates'],
    [required && verified, 'the check of client certificates'],
    [tls?.allowedNames !== undefined, 'the allowed names of clients'],
    [users.size > 0, 'passwords'],
  ];
  return asked.flatMap(([isAsked, name]) => (isAsked ? [name] : []));
}

/** Reads a whole file; rejects with an error with a `code` if it cannot be read. */
export type ReadText = (path: string) => Promise<string>;

/** The files that were read, and a digest that changes with their content. */
interface Print {
  readonly paths: readonly string[];
  readonly print: string;
}

/** Files with a valid configuration. */
export type GoodReading = Print & { readonly state: 'good'; readonly rules: WebRules };

/** The result of reading the files. */
export type RulesReading = GoodReading | (Print & { readonly state: 'bad'; readonly faults: readonly string[] });

/** The longest accepted file, in characters. */
const LONGEST_FILE = 1024 * 1024;

/** Reads the web configuration and the files that it names, each path relative to its folder. Never rejects. */
export async function readWebRules(path: string, read: ReadText): Promise<RulesReading> {
  const files = new Files(path, read);
  const text = await files.text(path, 'the file');
  if (text === undefined) return files.bad([]);
  const { file, faults } = parseWebFile(text);
  const texts = file.tls && (await pemTexts(file.tls, files));
  if (faults.length + files.faults.length > 0) return files.bad(faults);
  const { users, headers, rate } = file;
  const itself = { path: resolve(path), isSecret: users.size > 0 };
  if (file.tls === undefined || texts === undefined) {
    return files.good({ tls: undefined, users, headers, rate, ownFiles: [itself] });
  }
  const { settings: tls, faults: tlsFaults } = tlsSettings(file.tls, texts);
  if (tls === undefined) return files.bad(tlsFaults);
  const { key } = file.tls;
  const ownFiles =
    key.state === 'inline'
      ? [{ ...itself, isSecret: true }]
      : [itself, { path: files.place(key.path), isSecret: true }];
  return files.good({ tls, users, headers, rate, ownFiles });
}

/**
 * Reads the same files again, and returns the earlier reading if nothing has changed: parsing YAML, certificates and
 * keys takes time on the event loop. Never rejects.
 */
export async function readAgain(earlier: RulesReading, path: string, read: ReadText): Promise<RulesReading> {
  const files = new Files(path, read);
  for (const each of earlier.paths) await files.text(each, 'the file');
  const { print } = files.print();
  return print === earlier.print ? earlier : readWebRules(path, read);
}

/** Reads files and remembers their content. */
class Files {
  readonly faults: string[] = [];
  readonly #paths: string[] = [];
  readonly #folder: string;
  readonly #read: ReadText;
  readonly #hash = createHash('sha256');

  constructor(path: string, read: ReadText) {
    this.#folder = dirname(resolve(path));
    this.#read = read;
  }

  place(path: string): string {
    return resolve(this.#folder, path);
  }

  async text(path: string, name: string): Promise<string | undefined> {
    const text = await this.#read(path).catch((error: unknown) => {
      const code = (error as { readonly code?: unknown }).code;
      this.faults.push(`${name} ${path} cannot be read (${typeof code === 'string' ? code : 'unknown reason'})`);
      return undefined;
    });
    if (text !== undefined && text.length > LONGEST_FILE) {
      this.faults.push(`${name} ${path} is larger than ${LONGEST_FILE} characters; expected a small text`);
    }
    this.#paths.push(path);
    this.#hash.update(JSON.stringify([path, text ?? null]));
    return text !== undefined && text.length <= LONGEST_FILE ? text : undefined;
  }

  good(rules: WebRules): RulesReading {
    return { state: 'good', rules, ...this.print() };
  }

  bad(faults: readonly string[]): RulesReading {
    return { state: 'bad', faults: [...faults, ...this.faults], ...this.print() };
  }

  /** The digest of everything read; called once, at the end. */
  print(): Print {
    return { paths: this.#paths, print: this.#hash.digest('hex') };
  }
}

async function pemTexts({ certificate, key, clientCa }: TlsSection, files: Files): Promise<PemTexts | undefined> {
  const textOf = (source: PemSource, name: string) =>
    source.state === 'inline' ? source.text : files.text(files.place(source.path), name);
  const texts = {
    certificate: await textOf(certificate, 'cert_file'),
    key: await textOf(key, 'key_file'),
    clientCa: clientCa && (await textOf(clientCa, 'client_ca_file')),
  };
  if (texts.certificate === undefined || texts.key === undefined) return undefined;
  return { certificate: texts.certificate, key: texts.key, clientCa: texts.clientCa };
}

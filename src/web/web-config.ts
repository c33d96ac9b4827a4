import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../runtime/errors.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { type Pem, type TlsSettings, tlsSettings } from './tls.ts';
import type { PemSource, TlsSection, WebFile } from './web-config-schema.ts';

export interface WebRules extends Omit<WebFile, 'tls'> {
  readonly tls: TlsSettings | undefined;
  /** The file itself and the key file: only their owner may write them, or read them if they contain a secret. */
  readonly ownFiles: readonly { readonly path: string; readonly isSecret: boolean }[];
}

/** The files that were read, and a digest of them all. */
interface FileDigest {
  readonly paths: readonly string[];
  readonly digest: string;
}

export type ValidWebConfig = FileDigest & { readonly state: 'valid'; readonly rules: WebRules };

export type WebConfigResult =
  | ValidWebConfig
  | (FileDigest & { readonly state: 'invalid'; readonly errors: readonly string[] });

/** What rules require of clients, by names for messages. */
export function protectionsOf({ tls, users }: WebRules): readonly string[] {
  const { required = false, verified = false } = tls?.client ?? {};
  const protections: readonly (readonly [boolean, string])[] = [
    [tls !== undefined, 'TLS'],
    [required, 'client certificates'],
    [required && verified, 'the check of client certificates'],
    [tls?.allowedNames !== undefined, 'the allowed names of clients'],
    [users.size > 0, 'passwords'],
  ];
  return protections.flatMap(([isRequired, name]) => (isRequired ? [name] : []));
}

type Texts = readonly (readonly [path: string, text: string | undefined])[];

function digestOf(texts: Texts): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** Reads the web configuration and the files that it names, each path relative to its folder. Never rejects. */
export async function readWebRules(path: string, read: ReadText): Promise<WebConfigResult> {
  const texts: (readonly [path: string, text: string | undefined])[] = [];
  const errors: string[] = [];
  const textOf = async (file: string, name: string) => {
    const text = await read(file).catch((error: unknown) => {
      errors.push(`${name} ${file} cannot be read (${errorCode(error) ?? 'unknown reason'})`);
      return undefined;
    });
    texts.push([file, text]);
    return text;
  };
  const rules = await rulesOf(path, textOf, errors);
  const files = { paths: texts.map(([file]) => file), digest: digestOf(texts) };
  return rules === undefined ? { state: 'invalid', errors, ...files } : { state: 'valid', rules, ...files };
}

type TextOf = (path: string, name: string) => Promise<string | undefined>;

/** Adds a line for each error, and returns undefined if there are any. */
async function rulesOf(path: string, textOf: TextOf, errors: string[]): Promise<WebRules | undefined> {
  const text = await textOf(path, 'the file');
  if (text === undefined) return undefined;
  // Loaded only when needed: the YAML parser would be a tenth of every start.
  const { parseWebFile } = await import('./web-config-schema.ts');
  const parsed = parseWebFile(text);
  errors.push(...parsed.errors);
  const { tls: section, ...file } = parsed.file;
  const absolute = (named: string) => resolve(dirname(resolve(path)), named);
  const withPem = section && (await withTexts(section, (named, name) => textOf(absolute(named), name)));
  if (errors.length > 0) return undefined;
  const tls = withPem && tlsSettings(withPem, errors);
  if (errors.length > 0) return undefined;
  const key = section?.key;
  const webFile = { path: resolve(path), isSecret: file.users.size > 0 || key?.state === 'inline' };
  const ownFiles = key?.state === 'file' ? [webFile, { path: absolute(key.path), isSecret: true }] : [webFile];
  return { ...file, tls, ownFiles };
}

/** Reads the files that the TLS section names. Returns undefined if the certificate or the key cannot be read. */
async function withTexts(section: TlsSection, textOf: TextOf): Promise<TlsSection<Pem> | undefined> {
  const pemOf = async (source: PemSource, name: string): Promise<Pem | undefined> => {
    if (source.state === 'inline') return { name, text: source.text };
    const text = await textOf(source.path, `${name}_file`);
    return text === undefined ? undefined : { name: `${name}_file ${source.path}`, text };
  };
  const certificate = await pemOf(section.certificate, 'cert');
  const key = await pemOf(section.key, 'key');
  const clientCa = section.clientCa && (await pemOf(section.clientCa, 'client_ca'));
  return certificate && key && { ...section, certificate, key, clientCa };
}

/**
 * Reads the same files again, and returns the earlier result if nothing has changed: parsing YAML, certificates and
 * keys takes time on the event loop. Never rejects.
 */
export async function rereadIfChanged(
  earlier: WebConfigResult,
  path: string,
  read: ReadText,
): Promise<WebConfigResult> {
  const texts = earlier.paths.map(async (file) => [file, await read(file).catch(() => undefined)] as const);
  return digestOf(await Promise.all(texts)) === earlier.digest ? earlier : readWebRules(path, read);
}

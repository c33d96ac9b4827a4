import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { errorCode } from '../runtime/errors.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { type PemSource, parseWebFile, type TlsSection, type WebFile } from './file-format.ts';
import { type Pem, type TlsSettings, tlsSettings } from './tls.ts';

export interface WebRules extends Omit<WebFile, 'tls'> {
  readonly tls: TlsSettings | undefined;
  /** The file itself and the key file: only their owner may write them, or read them if they contain a secret. */
  readonly ownFiles: readonly { readonly path: string; readonly isSecret: boolean }[];
}

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

/** The files that were read, and a digest of them all. */
interface Print {
  readonly paths: readonly string[];
  readonly print: string;
}

export type GoodReading = Print & { readonly state: 'good'; readonly rules: WebRules };

export type RulesReading = GoodReading | (Print & { readonly state: 'bad'; readonly faults: readonly string[] });

type Texts = readonly (readonly [path: string, text: string | undefined])[];

function printOf(texts: Texts): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

/** Reads the web configuration and the files that it names, each path relative to its folder. Never rejects. */
export async function readWebRules(path: string, read: ReadText): Promise<RulesReading> {
  const texts: (readonly [path: string, text: string | undefined])[] = [];
  const faults: string[] = [];
  const textOf = async (file: string, name: string) => {
    const text = await read(file).catch((error: unknown) => {
      faults.push(`${name} ${file} cannot be read (${errorCode(error) ?? 'unknown reason'})`);
      return undefined;
    });
    texts.push([file, text]);
    return text;
  };
  const rules = await rulesOf(path, textOf, faults);
  const print = { paths: texts.map(([file]) => file), print: printOf(texts) };
  return rules === undefined ? { state: 'bad', faults, ...print } : { state: 'good', rules, ...print };
}

type TextOf = (path: string, name: string) => Promise<string | undefined>;

/** Undefined if `faults` has got some. */
async function rulesOf(path: string, textOf: TextOf, faults: string[]): Promise<WebRules | undefined> {
  const text = await textOf(path, 'the file');
  if (text === undefined) return undefined;
  const parsed = parseWebFile(text);
  faults.push(...parsed.faults);
  const { tls: section, ...file } = parsed.file;
  const place = (named: string) => resolve(dirname(resolve(path)), named);
  const texts = section && (await withTexts(section, (named, name) => textOf(place(named), name)));
  if (faults.length > 0) return undefined;
  const tls = texts && tlsSettings(texts, faults);
  if (faults.length > 0) return undefined;
  const key = section?.key;
  const itself = { path: resolve(path), isSecret: file.users.size > 0 || key?.state === 'inline' };
  const ownFiles = key?.state === 'file' ? [itself, { path: place(key.path), isSecret: true }] : [itself];
  return { ...file, tls, ownFiles };
}

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
 * Reads the same files again, and returns the earlier reading if nothing has changed: parsing YAML, certificates and
 * keys takes time on the event loop. Never rejects.
 */
export async function readAgain(earlier: RulesReading, path: string, read: ReadText): Promise<RulesReading> {
  const texts = earlier.paths.map(async (file) => [file, await read(file).catch(() => undefined)] as const);
  return printOf(await Promise.all(texts)) === earlier.print ? earlier : readWebRules(path, read);
}

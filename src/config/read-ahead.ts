import { asError } from '../runtime/errors.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { DOTENV, type ReadFile, settledTexts, type Texts } from './environment.ts';
import { fileVariable, type NamedRow } from './section.ts';

/**
 * Reads `.env`, the files with secrets and PEM files in advance, so that loading the configuration does not block.
 * Never rejects: an unreadable file becomes an error when it is requested.
 */
export async function readAhead(
  environment: Readonly<Record<string, string | undefined>>,
  rows: readonly NamedRow[],
  { readSecret, readPem }: { readonly readSecret: ReadText; readonly readPem: ReadText },
): Promise<{ readonly readFile: ReadFile; readonly texts: Texts }> {
  const found = new Map<string, string | Error>();
  const keep = async (path: string, read: ReadText) => found.set(path, await read(path).catch(asError));
  const readFile = (path: string) => {
    const content = found.get(path) ?? new Error(`${path}: was not read in advance`);
    if (typeof content !== 'string') throw content;
    return content;
  };
  await keep(DOTENV, readSecret);
  const { texts } = settledTexts(environment, readFile, rows, []);
  const secrets = rows.flatMap(({ name, row }) => (row.kind.isSecret ? (texts.get(fileVariable(name)) ?? []) : []));
  const pems = rows.flatMap(({ name, row }) => (row.kind.valueIn ? (texts.get(name) ?? []) : []));
  const ways = new Map([
    ...pems.map((path) => [path, readPem] as const),
    ...secrets.map((path) => [path, readSecret] as const),
  ]);
  await Promise.all([...ways].map(([path, read]) => keep(path, read)));
  return { readFile, texts };
}

import { asError } from '../runtime/errors.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { type ReadFile, settledTexts, type Texts } from './environment.ts';
import { fileVariable, type NamedRow } from './section.ts';

/**
 * Reads `.env` and the files with secrets in advance, so that loading the configuration does not block. Never rejects:
 * an unreadable file becomes an error when it is requested.
 */
export async function readAhead(
  environment: Readonly<Record<string, string | undefined>>,
  rows: readonly NamedRow[],
  read: ReadText,
): Promise<{ readonly readFile: ReadFile; readonly texts: Texts }> {
  const found = new Map<string, string | Error>();
  const keep = async (path: string) => found.set(path, await read(path).catch(asError));
  const readFile = (path: string) => {
    const content = found.get(path) ?? new Error(`${path}: was not read in advance`);
    if (typeof content !== 'string') throw content;
    return content;
  };
  await keep('.env');
  const { texts } = settledTexts(environment, readFile, rows, []);
  const paths = rows.flatMap(({ name, row }) => (row.kind.isSecret ? (texts.get(fileVariable(name)) ?? []) : []));
  await Promise.all([...new Set(paths)].map(keep));
  return { readFile, texts };
}

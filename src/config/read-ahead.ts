import { asError } from '../runtime/errors.ts';
import { type ReadFile, settledTexts } from './environment.ts';
import { fileVariable, type NamedRow } from './section.ts';

/**
 * Reads `.env` and the files with secrets, so that the configuration can be made of them without waiting. Never rejects:
 * what could not be read is an error where it is asked for.
 */
export async function readAhead(
  environment: Readonly<Record<string, string | undefined>>,
  rows: readonly NamedRow[],
  read: (path: string) => Promise<string>,
): Promise<ReadFile> {
  const found = new Map<string, string | Error>();
  const keep = async (path: string) => found.set(path, await read(path).catch(asError));
  const readFile = (path: string) => {
    const content = found.get(path) ?? new Error(`${path}: not read ahead`);
    if (typeof content !== 'string') throw content;
    return content;
  };
  await keep('.env');
  const { texts } = settledTexts(environment, readFile, rows);
  const paths = rows.flatMap(({ name, row }) => (row.file ? (texts.get(fileVariable(name)) ?? []) : []));
  await Promise.all([...new Set(paths)].map(keep));
  return readFile;
}

import { errorCode } from '../runtime/errors.ts';
import { REDACTED, Secret } from '../runtime/secret.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { quotedPath, secretError } from './format.ts';
import type { NamedVariable, ReadFile, VariableTexts } from './table.ts';
import { fileVariable, isSecret } from './table.ts';

/** A secret in a file. Each reload reads the file again, so that a rotated secret needs no restart. */
export class FileSecret extends Secret {
  /** The path may be shown, unlike the content. */
  readonly path: string;

  constructor(path: string, readFile: ReadFile, readAgain: ReadText) {
    super(
      () => secretIn(readFile(path)),
      async () => secretIn(await readAgain(path)),
    );
    this.path = path;
  }

  override toString(): string {
    return `${REDACTED} from ${this.path}`;
  }
}

/** The message never quotes the content. */
class UnfitContentError extends Error {}

/** Throws for invalid content, which {@link Secret.reload} takes for a rotation that is not yet complete. */
function secretIn(content: string): string {
  const text = content.replace(/[\r\n]+$/, '');
  if (text === '') throw new UnfitContentError('the file is empty; expected the secret');
  const error = secretError(text);
  if (error !== undefined) throw new UnfitContentError(`the file's content ${error}; expected only the secret`);
  return text;
}

/** Matches how paths begin. Any other text may be the secret itself in the wrong variable, so it is not quoted. */
const PATH = /^(?:\.{1,2}\/|secrets\/|\/(?:etc|home|mnt|opt|root|run|srv|tmp|usr|var)\/)/;

export function fileSecrets(
  texts: VariableTexts,
  rows: readonly NamedVariable[],
  { readFile, readAgain }: { readonly readFile: ReadFile; readonly readAgain: ReadText },
  errors: string[],
): Readonly<Record<string, FileSecret>> {
  const secrets: Record<string, FileSecret> = {};
  for (const { name, row } of rows) {
    const fileName = fileVariable(name);
    const path = isSecret(row) ? texts.get(fileName) : undefined;
    if (path === undefined) continue;
    if (texts.has(name)) {
      errors.push(`${name}: is set and so is ${fileName}; expected one of them`);
    }
    try {
      secrets[name] = new FileSecret(path, readFile, readAgain);
    } catch (error) {
      const reason =
        error instanceof UnfitContentError
          ? error.message
          : `${PATH.test(path) ? `${quotedPath(path)} ` : ''}cannot be read (${errorCode(error) ?? 'unknown reason'}); expected the path of a file with the secret`;
      errors.push(`${fileName}: ${reason}`);
    }
  }
  return secrets;
}

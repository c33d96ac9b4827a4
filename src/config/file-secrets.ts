import { ConfigError, errorCode } from '../runtime/errors.ts';
import { REDACTED, Secret } from '../runtime/secret.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { errorLine, type Format, quotedPath } from './format.ts';
import { fileVariable, isSecret, type NamedVariable, type VariableTexts } from './table.ts';

/** A secret in a file. Each reload reads the file again, so that a rotated secret needs no restart. */
export class FileSecret extends Secret {
  /** The path may be shown, unlike the content. */
  readonly path: string;

  constructor(path: string, content: string, readAgain: () => Promise<string>) {
    super(content, readAgain);
    this.path = path;
  }

  override toString(): string {
    return `${REDACTED} from ${this.path}`;
  }
}

/** Reads the secrets that are given as `NAME_FILE`. Adds to `errors` what is wrong with them. */
export async function fileSecrets(
  rows: readonly NamedVariable[],
  texts: VariableTexts,
  readText: ReadText,
  errors: string[],
): Promise<Readonly<Record<string, FileSecret>>> {
  const secrets: Record<string, FileSecret> = {};
  for (const { name, row } of rows) {
    const fileName = fileVariable(name);
    const path = isSecret(row) ? texts.get(fileName) : undefined;
    if (path === undefined) continue;
    if (texts.has(name)) errors.push(`${name}: is set and so is ${fileName}; expected one of them`);
    const read = () => secretIn(fileName, path, row.format as Format<Secret>, readText);
    try {
      secrets[name] = new FileSecret(path, await read(), read);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      errors.push(...error.errors);
    }
  }
  return secrets;
}

/** Rejects with a ConfigError if the content is no secret, which {@link Secret.reload} takes for an incomplete rotation. */
async function secretIn(name: string, path: string, format: Format<Secret>, readText: ReadText): Promise<string> {
  const content = await readText(path).catch((error: unknown) => {
    const reason = errorCode(error) ?? 'unknown reason';
    const expected = 'expected the path of a file with the secret';
    throw new ConfigError([`${name}: ${quotedPath(path)} cannot be read (${reason}); ${expected}`]);
  });
  const parsed = format.parse(content.replace(/[\r\n]+$/, ''));
  if (parsed.state === 'valid') return parsed.value.reveal();
  throw new ConfigError(parsed.errors.map((error) => errorLine(name, error, format.expects)));
}

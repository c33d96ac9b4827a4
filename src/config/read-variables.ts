import { ConfigError, errorCode } from '../runtime/errors.ts';
import { Secret } from '../runtime/secret.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { errorLine, type Format, quotedPath } from './format.ts';
import { fileVariable, isSecret, type NamedVariable, type Rows, type Values, type VariableTexts } from './table.ts';

/**
 * The values of the variables that are valid, also of those that are given as `NAME_FILE`, and the defaults of those that
 * are not set. Adds to `errors` what is wrong with the others.
 */
export async function readVariables(
  rows: readonly NamedVariable[],
  texts: VariableTexts,
  readText: ReadText,
  errors: string[],
): Promise<Values<Rows>> {
  const values: Record<string, unknown> = {};
  for (const { name, row } of rows) {
    const fileName = fileVariable(name);
    const path = isSecret(row) ? texts.get(fileName) : undefined;
    const text = texts.get(name) ?? row.default;
    try {
      if (path !== undefined) values[name] = await fileSecret(fileName, path, row.format as Format<Secret>, readText);
      else if (text !== undefined) values[name] = parse(name, text, row.format);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      errors.push(...error.errors);
    }
    if (path !== undefined && text !== undefined)
      errors.push(`${name}: is set and so is ${fileName}; expected one of them`);
  }
  return values;
}

/** A secret in a file. Each reload reads the file again, so that a rotated secret needs no restart. */
async function fileSecret(name: string, path: string, format: Format<Secret>, readText: ReadText): Promise<Secret> {
  // It rejects if the content is no secret, which `Secret.reload` takes for an incomplete rotation.
  const read = async () => {
    const content = await readText(path).catch((error: unknown) => {
      const reason = errorCode(error) ?? 'unknown reason';
      const expected = 'expected the path of a file with the secret';
      throw new ConfigError([`${name}: ${quotedPath(path)} cannot be read (${reason}); ${expected}`]);
    });
    return parse(name, content.replace(/[\r\n]+$/, ''), format).reveal();
  };
  return new Secret(await read(), read);
}

/** Throws a ConfigError with the name of the variable if the text is not of the format. */
function parse<Value>(name: string, text: string, format: Format<Value>): Value {
  const parsed = format.parse(text);
  if (parsed.state === 'valid') return parsed.value;
  throw new ConfigError(parsed.errors.map((error) => errorLine(name, error, format.expects)));
}

import { Ajv, type ErrorObject, type SchemaValidateFunction } from 'ajv';
import envSchema from 'env-schema';
import { ConfigError, errorCode } from '../runtime/errors.ts';
import { getOrCreate } from '../runtime/maps.ts';
import { Secret } from '../runtime/secret.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { errorLine, type Format, quotedPath } from './format.ts';
import { fileVariable, isSecret, type NamedVariable, type Rows, type Values, type VariableTexts } from './table.ts';

/** The keyword of the schema: the format of the variable reads its text, and the value takes the place of the text. */
const reads: SchemaValidateFunction = (format: Format<unknown>, text: string, _schema, place) => {
  const name = String(place?.parentDataProperty);
  const parsed = format.parse(text);
  if (parsed.state === 'valid') {
    if (place !== undefined) place.parentData[name] = parsed.value;
    return true;
  }
  reads.errors = parsed.errors.map((error) => ({ message: errorLine(name, error, format.expects), params: { name } }));
  return false;
};

const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  // The schemas are part of the program. Checking them would compile the schema of JSON Schema itself at each start.
  meta: false,
  validateSchema: false,
  keywords: [{ keyword: 'reads', type: 'string', modifying: true, errors: true, validate: reads }],
});

/**
 * One for each set of variables, by their names: Ajv takes 50 ms to compile a schema, and keeps it as long as the process lives.
 */
const schemas = new Map<string, object>();

function schemaOf(rows: readonly NamedVariable[]): object {
  const properties: Record<string, object> = {};
  for (const { name, row } of rows) {
    const { format, default: byDefault } = row;
    properties[name] = { type: 'string', reads: format, ...(byDefault !== undefined && { default: byDefault }) };
  }
  return { type: 'object', properties };
}

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
  const values = valuesOf(rows, texts, errors);
  return { ...values, ...(await fileSecrets(rows, texts, readText, errors)) };
}

function valuesOf(rows: readonly NamedVariable[], texts: VariableTexts, errors: string[]): Values<Rows> {
  const names = rows.map(({ name }) => name);
  const schema = getOrCreate(schemas, names.join(), () => schemaOf(rows));
  const data: Record<string, string> = {};
  for (const name of names) {
    const text = texts.get(name);
    if (text !== undefined) data[name] = text;
  }
  try {
    return envSchema({ env: false, schema, data, ajv });
  } catch (error) {
    if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) throw error;
    const found: readonly ErrorObject[] = error.errors;
    errors.push(...found.map(({ message = '' }) => message));
    const invalid = new Set(found.map(({ params }) => params.name));
    // The relations between the other variables are checked too, so their values are still needed.
    const others = rows.filter(({ name }) => !invalid.has(name));
    return valuesOf(others, texts, errors);
  }
}

async function fileSecrets(
  rows: readonly NamedVariable[],
  texts: VariableTexts,
  readText: ReadText,
  errors: string[],
): Promise<Readonly<Record<string, Secret>>> {
  const secrets: Record<string, Secret> = {};
  for (const { name, row } of rows) {
    const fileName = fileVariable(name);
    const path = isSecret(row) ? texts.get(fileName) : undefined;
    if (path === undefined) continue;
    if (texts.has(name)) errors.push(`${name}: is set and so is ${fileName}; expected one of them`);
    const read = () => secretIn(fileName, path, row.format as Format<Secret>, readText);
    try {
      // Each reload reads the file again, so that a rotated secret needs no restart.
      secrets[name] = new Secret(await read(), read);
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

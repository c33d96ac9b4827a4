import { Ajv, type ErrorObject, type SchemaValidateFunction } from 'ajv';
import envSchema from 'env-schema';
import { errorCode } from '../runtime/errors.ts';
import { errorLine, type Format, invalid, type Parsed, quotedPath, type ValueError } from './format.ts';
import type { NamedVariable, ReadFile, Rows, Values, VariableTexts } from './table.ts';

/** The keyword of the schemas: the format of the variable reads its text, and the value takes the place of the text. */
const reads: SchemaValidateFunction = (format: Format<unknown>, text: string, _schema, place) => {
  const parsed = format.parse(text);
  if (parsed.state === 'invalid') {
    reads.errors = parsed.errors.map(({ what, meant }) => ({ keyword: 'reads', message: what, params: { meant } }));
    return false;
  }
  if (place !== undefined) place.parentData[place.parentDataProperty] = parsed.value;
  return true;
};

const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  // The schemas are part of the program. Checking them would compile the schema of JSON Schema itself at each start.
  meta: false,
  validateSchema: false,
  keywords: [{ keyword: 'reads', type: 'string', modifying: true, errors: true, validate: reads }],
});

function schemaOf(rows: readonly NamedVariable[]): object {
  const properties: Record<string, object> = {};
  for (const { name, row } of rows) {
    properties[name] = {
      type: 'string',
      reads: row.format,
      ...(row.default !== undefined && { default: row.default }),
    };
  }
  return { type: 'object', properties };
}

/** The values of the variables that are valid, and the defaults of those that are not set. Each error becomes a line. */
export function readVariables(
  rows: readonly NamedVariable[],
  texts: VariableTexts,
  readFile: ReadFile,
): { readonly values: Values<Rows>; readonly errors: readonly string[] } {
  const set: Record<string, string> = {};
  for (const { name } of rows) {
    const text = texts.get(name);
    if (text !== undefined) set[name] = text;
  }
  const { values: found, errors: failed } = validated(schemaOf(rows), set);
  const values: Record<string, unknown> = {};
  const lines: string[] = [];
  for (const { name, row } of rows) {
    const errors: ValueError[] = failed
      .filter((error) => variableOf(error) === name)
      .map(({ message = '', params }) => ({ what: message, meant: params.meant }));
    if (found[name] !== undefined) {
      const read = withFile(row.format, found[name], readFile);
      if (read.state === 'valid') values[name] = read.value;
      else errors.push(...read.errors);
    }
    lines.push(...errors.map((error) => errorLine(name, error, row.format.expects)));
  }
  return { values, errors: lines };
}

interface Validated {
  readonly values: Readonly<Record<string, unknown>>;
  readonly errors: readonly ErrorObject[];
}

function validated(schema: object, data: Readonly<Record<string, string>>): Validated {
  try {
    return { values: envSchema({ env: false, schema, data, ajv }), errors: [] };
  } catch (error) {
    if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) throw error;
    const errors: readonly ErrorObject[] = error.errors;
    // The relations between the other variables are checked too, so their values are still needed.
    const invalidNames = new Set(errors.map(variableOf));
    const isValid = ([name]: readonly [string, unknown]) => !invalidNames.has(name);
    const { values } = validated(schema, Object.fromEntries(Object.entries(data).filter(isValid)));
    return { values: Object.fromEntries(Object.entries(values).filter(isValid)), errors };
  }
}

function variableOf({ instancePath }: ErrorObject): string | undefined {
  return instancePath.split('/')[1];
}

function withFile({ valueIn }: Format<unknown>, value: unknown, readFile: ReadFile): Parsed<unknown> {
  if (valueIn === undefined) return { state: 'valid', value };
  const path = String(value);
  try {
    return valueIn(path, readFile(path));
  } catch (error) {
    return invalid(`${quotedPath(path)} cannot be read (${errorCode(error) ?? 'unknown reason'})`);
  }
}

import { Ajv, type ErrorObject, type SchemaValidateFunction } from 'ajv';
import envSchema from 'env-schema';
import { errorLine, type Format } from './format.ts';
import type { NamedVariable, Rows, Values, VariableTexts } from './table.ts';

/** The keyword of the schema: the format of the variable reads its text, and the value takes the place of the text. */
const reads: SchemaValidateFunction = (format: Format<unknown>, text: string, _schema, place) => {
  const parsed = format.parse(text);
  const name = String(place?.parentDataProperty);
  if (parsed.state === 'invalid') {
    reads.errors = parsed.errors.map((error) => ({
      keyword: 'reads',
      message: errorLine(name, error, format.expects),
      params: { name },
    }));
    return false;
  }
  if (place !== undefined) place.parentData[name] = parsed.value;
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

/** The values of the variables that are valid, and the defaults of those that are not set. Each error becomes a line. */
export function readVariables(
  rows: readonly NamedVariable[],
  texts: VariableTexts,
): { readonly values: Values<Rows>; readonly errors: readonly string[] } {
  const properties: Record<string, object> = {};
  const data: Record<string, string> = {};
  for (const { name, row } of rows) {
    const { format, default: byDefault } = row;
    properties[name] = { type: 'string', reads: format, ...(byDefault !== undefined && { default: byDefault }) };
    const text = texts.get(name);
    if (text !== undefined) data[name] = text;
  }
  try {
    return { values: envSchema({ env: false, schema: { type: 'object', properties }, data, ajv }), errors: [] };
  } catch (error) {
    if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) throw error;
    const errors: readonly ErrorObject[] = error.errors;
    const invalid = new Set(errors.map(({ params }) => params.name));
    // The relations between the other variables are checked too, so their values are still needed.
    const { values } = readVariables(
      rows.filter(({ name }) => !invalid.has(name)),
      texts,
    );
    return { values, errors: errors.map(({ message = '' }) => message) };
  }
}

import { Ajv, type ErrorObject, type FuncKeywordDefinition } from 'ajv';
import envSchema from 'env-schema';
import { errorCode } from '../runtime/errors.ts';
import { likelyTypo } from '../runtime/suggest.ts';
import {
  entriesOf,
  errorLine,
  type Format,
  invalid,
  type Parsed,
  quoted,
  quotedPath,
  type ValueError,
} from './format.ts';
import {
  expectationOf,
  type NamedVariable,
  type ReadFile,
  type Rows,
  type ValueSchema,
  type Values,
  type VariableTexts,
} from './schema.ts';

/** The formats of the schemas by their names. */
const formats = new Map<string, Format<unknown>>();

/** Keywords for the range of a format, as the package `ajv-formats` defines them. */
function limit(keyword: string, isOutside: (value: number, bound: number) => boolean): FuncKeywordDefinition {
  const numberIn = (text: string, { format }: { readonly format?: string }) => {
    const parsed = formats.get(format ?? '')?.parse(text);
    return parsed?.state === 'valid' ? Number(parsed.value) : Number.NaN;
  };
  return {
    keyword,
    type: 'string',
    validate: (bound: string, text: string, schema = {}) => !isOutside(numberIn(text, schema), numberIn(bound, schema)),
  };
}

const ajv = new Ajv({
  allErrors: true,
  coerceTypes: true,
  useDefaults: true,
  allowUnionTypes: true,
  verbose: true,
  // The schemas are part of the program. Checking them would compile the schema of JSON Schema itself at each start.
  meta: false,
  validateSchema: false,
  keywords: [
    envSchema.keywords.separator,
    limit('formatMinimum', (value, bound) => value < bound),
    limit('formatMaximum', (value, bound) => value > bound),
  ],
});

/** The JSON schema of some variables, for env-schema. */
export function schemaOf(rows: Rows): object {
  const properties = Object.entries(rows).map(([name, { help, unset, ...row }]) => [name, valueSchema(row)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function valueSchema({ format, items, ...rest }: ValueSchema): object {
  if (format !== undefined && !formats.has(format.label)) {
    formats.set(format.label, format);
    ajv.addFormat(format.label, (text) => format.parse(text).state === 'valid');
  }
  return {
    type: 'string',
    ...rest,
    ...(format && { format: format.label }),
    ...(items && { items: valueSchema(items) }),
  };
}

/** The values of the variables that are valid, and the defaults of those that are not set. Each error becomes a line. */
export function readValues(
  { rows, schema }: { readonly rows: readonly NamedVariable[]; readonly schema: object },
  texts: VariableTexts,
  readFile: ReadFile,
): { readonly values: Values<Rows>; readonly errors: readonly string[] } {
  const data = rows.flatMap(({ name, row }) => {
    const text = texts.get(name);
    return text === undefined ? [] : [[name, row.items === undefined ? text : entriesOf(text).join(',')] as const];
  });
  const { values: found, faults } = validated(schema, Object.fromEntries(data));
  const values: Record<string, unknown> = {};
  const errors: string[] = [];
  for (const { name, row } of rows) {
    const flaws = faults.flatMap((fault) => {
      const [, variable, entry] = fault.instancePath.split('/');
      return variable === name ? flawsOf(entry === undefined ? row : (row.items ?? row), fault) : [];
    });
    const parsed =
      found[name] === undefined ? undefined : withFile(row.format, convertedValue(row, found[name]), readFile);
    if (parsed?.state === 'valid') values[name] = parsed.value;
    else flaws.push(...(parsed?.errors ?? []));
    errors.push(...flaws.map((flaw) => errorLine(name, flaw, expectationOf(row))));
  }
  return { values, errors };
}

interface Validated {
  readonly values: Readonly<Record<string, unknown>>;
  readonly faults: readonly ErrorObject[];
}

function validated(schema: object, data: Readonly<Record<string, string>>): Validated {
  try {
    return { values: envSchema({ env: false, schema, data, ajv }), faults: [] };
  } catch (error) {
    if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) throw error;
    const faults: readonly ErrorObject[] = error.errors;
    // The relations between the other variables are checked too, so their values are still needed.
    const invalidNames = new Set(faults.map(variableOf));
    const isValid = ([name]: readonly [string, unknown]) => !invalidNames.has(name);
    const { values } = validated(schema, Object.fromEntries(Object.entries(data).filter(isValid)));
    return { values: Object.fromEntries(Object.entries(values).filter(isValid)), faults };
  }
}

function variableOf({ instancePath }: ErrorObject): string | undefined {
  return instancePath.split('/')[1];
}

/** What an error of the schema means. Only a format knows whether a value may be quoted, so it has its own words. */
function flawsOf(
  { enum: words = [], format, formatMinimum, formatMaximum }: ValueSchema,
  { keyword, data }: ErrorObject,
): readonly ValueError[] {
  const text = String(data);
  const parsed = format?.parse(text);
  if (parsed?.state === 'invalid') return parsed.errors;
  const flaws: Readonly<Record<string, string>> = {
    enum: `${quoted(text)} is not a known word`,
    formatMinimum: `${quoted(text)} is below ${formatMinimum}`,
    formatMaximum: `${quoted(text)} is above ${formatMaximum}`,
    minItems: 'is an empty list',
  };
  return [{ what: flaws[keyword] ?? `${quoted(text)} is neither`, meant: likelyTypo(text, words) }];
}

function convertedValue({ format, items }: ValueSchema, found: unknown): unknown {
  if (items !== undefined && Array.isArray(found))
    return [...new Set(found.map((entry) => convertedValue(items, entry)))];
  const parsed = format?.parse(String(found));
  return parsed?.state === 'valid' ? parsed.value : found;
}

function withFile(format: Format<unknown> | undefined, value: unknown, readFile: ReadFile): Parsed<unknown> {
  if (format?.valueIn === undefined) return { state: 'valid', value };
  const path = String(value);
  try {
    return format.valueIn(path, readFile(path));
  } catch (error) {
    return invalid(`${quotedPath(path)} cannot be read (${errorCode(error) ?? 'unknown reason'})`);
  }
}

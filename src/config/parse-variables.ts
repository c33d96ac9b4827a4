import type { Ajv, FuncKeywordDefinition } from 'ajv';
import envSchema from 'env-schema';
import { errorCode } from '../runtime/errors.ts';
import type { ReadFile, VariableTexts } from './dotenv.ts';
import type { Rows, Section, Values } from './section.ts';
import { errorLine, invalid, type Parsed, quotedPath, type VariableType } from './variable-type.ts';

/** A keyword of JSON Schema that replaces the text of a variable with the value that its type parses. */
const KIND: FuncKeywordDefinition = {
  keyword: 'kind',
  modifying: true,
  valid: true,
  errors: false,
  compile: (kind: VariableType<unknown>) => (text: string, place) => {
    if (place !== undefined) place.parentData[place.parentDataProperty] = kind.parse(text);
    return true;
  },
};

/** Keeps the compiled schema of the first call, because compiling again would repeat all the work. */
let compiler: Ajv | undefined;

/**
 * The types and enumerations of JSON Schema are not used: they accept `1e3` and ` 4` as numbers, know no duration, and
 * their errors name neither the value nor what was meant.
 */
export function readValues(
  texts: VariableTexts,
  sections: readonly Section[],
  readFile: ReadFile,
  errors: string[],
): Values<Rows> {
  const values: Record<string, unknown> = {};
  for (const { rows, schema } of sections) {
    const parsed = envSchema<Readonly<Record<string, Parsed<unknown>>>>({
      env: false,
      schema,
      data: Object.fromEntries(texts),
      ajv: compiler ?? {
        customOptions: (ajv) => {
          compiler = ajv.addKeyword(KIND);
          return compiler;
        },
      },
    });
    for (const { name, row } of rows) {
      const result = parsed[name] && withFile(row.kind, parsed[name], readFile);
      if (result?.state === 'valid') values[name] = result.value;
      else errors.push(...(result?.errors ?? []).map((error) => errorLine(name, error, row.kind.expects)));
    }
  }
  return values;
}

function withFile({ valueIn }: VariableType<unknown>, parsed: Parsed<unknown>, readFile: ReadFile): Parsed<unknown> {
  if (valueIn === undefined || parsed.state === 'invalid') return parsed;
  const path = String(parsed.value);
  try {
    return valueIn(path, readFile(path));
  } catch (error) {
    return invalid(`${quotedPath(path)} cannot be read (${errorCode(error) ?? 'unknown reason'})`);
  }
}

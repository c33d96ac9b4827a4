import type { Ajv, FuncKeywordDefinition } from 'ajv';
import envSchema from 'env-schema';
import type { Texts } from './environment.ts';
import { faultLine, type Kind, type Parsed } from './kind.ts';
import type { Rows, Section, Values } from './section.ts';

/** A keyword that replaces a text with what its kind makes of it. */
const KIND: FuncKeywordDefinition = {
  keyword: 'kind',
  modifying: true,
  valid: true,
  errors: false,
  compile: (kind: Kind<unknown>) => (text: string, place) => {
    if (place !== undefined) place.parentData[place.parentDataProperty] = kind.parse(text);
    return true;
  },
};

/** env-schema's instance of the first call, with the keyword: another one for each call would compile everything again. */
let compiler: Ajv | undefined;

/**
 * Reads every variable with env-schema, by the kind of its row. The types and enumerations of JSON Schema are not used:
 * they accept `1e3` and ` 4` as numbers, know no duration, and their errors name neither the value nor what was meant.
 */
export function readValues(texts: Texts, sections: readonly Section[], faults: string[]): Values<Rows> {
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
      const result = parsed[name];
      if (result?.state === 'good') values[name] = result.value;
      else faults.push(...(result?.flaws ?? []).map((flaw) => faultLine(name, flaw, row.kind.expects)));
    }
  }
  return values;
}

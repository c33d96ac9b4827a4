import envSchema from 'env-schema';
import type { Texts } from './environment.ts';
import { faultLine } from './kind.ts';
import type { Fault, NamedRow } from './section.ts';

/**
 * Reads every row once, by env-schema: it fills in the defaults, has each text read by its row's kind, and gathers the
 * errors of all of them. What it cannot say in the operator's words (a duration, a near miss, that one variable needs
 * another) is said by the kinds, and by the rules of each section.
 */
export function readValues(
  texts: Texts,
  rows: readonly NamedRow[],
): { readonly values: Map<string, unknown>; readonly faults: readonly Fault[] } {
  const values = new Map<string, unknown>();
  const faults: Fault[] = [];
  const read = new Map(
    rows.map(({ name, row: { kind } }) => [
      name,
      (text: string): boolean => {
        const parsed = kind.parse(text);
        if (parsed.state === 'good') values.set(name, parsed.value);
        else
          faults.push(...parsed.flaws.map((flaw) => ({ variable: name, line: faultLine(name, flaw, kind.expects) })));
        return parsed.state === 'good';
      },
    ]),
  );
  const properties = rows.map(({ name, row }) => [
    name,
    { type: 'string', row: name, ...(row.default !== undefined && { default: row.default }) },
  ]);
  try {
    envSchema({
      env: false,
      schema: { type: 'object', properties: Object.fromEntries(properties) },
      data: Object.fromEntries(texts),
      ajv: {
        customOptions: (ajv) =>
          ajv.addKeyword({
            keyword: 'row',
            validate: (name: string, text: string) => read.get(name)?.(text) ?? false,
          }),
      },
    });
  } catch (error) {
    // Its own message names no reason; the faults do.
    if (faults.length === 0) throw error;
  }
  return { values, faults };
}

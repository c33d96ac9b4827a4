import envSchema from 'env-schema';
import type { Texts } from './environment.ts';
import { faultLine } from './kind.ts';
import type { NamedRow, Row } from './section.ts';

/**
 * Reads every row once with env-schema, which applies the defaults, reads each text by its row's kind, and collects all
 * errors. The kinds and the rules of each section report what it cannot: durations, near misses, and variables that
 * need others.
 */
export function readValues(
  texts: Texts,
  rows: readonly NamedRow[],
): { readonly values: Map<string, unknown>; readonly faults: readonly string[] } {
  const values = new Map<string, unknown>();
  const faults: string[] = [];
  const read = (name: string, { kind }: Row, text: string): boolean => {
    const parsed = kind.parse(text);
    if (parsed.state === 'good') values.set(name, parsed.value);
    else faults.push(...parsed.flaws.map((flaw) => faultLine(name, flaw, kind.expects)));
    return parsed.state === 'good';
  };
  const properties = rows.map(({ name, row }) => [name, { type: 'string', default: row.default, row }]);
  try {
    envSchema({
      env: false,
      schema: { type: 'object', properties: Object.fromEntries(properties) },
      data: Object.fromEntries(texts),
      ajv: {
        customOptions: (ajv) =>
          ajv.addKeyword({
            keyword: 'row',
            validate: (row: Row, text: string, _: unknown, at?: { readonly parentDataProperty: string | number }) =>
              read(String(at?.parentDataProperty), row, text),
          }),
      },
    });
  } catch (error) {
    // Its own message has no reason; the faults have one.
    if (faults.length === 0) throw error;
  }
  return { values, faults };
}

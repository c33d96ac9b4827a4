import envSchema from 'env-schema';
import type { Fault, Texts } from './environment.ts';
import { type Flaw, faultLine, type Vocabulary } from './kind.ts';
import { rows, type VariableName } from './variables.ts';

/**
 * The lines about every row whose text is not of its kind, checked at once by env-schema. The JSON schema has a string
 * per row, and a format per row, because two variables of one kind may have different bounds.
 */
export function kindFaults(texts: Texts, vocabulary: Vocabulary): readonly Fault[] {
  const flaws = new Map<VariableName, readonly Flaw[]>();
  try {
    envSchema({
      env: false,
      schema: {
        type: 'object',
        properties: Object.fromEntries(rows.map(({ name }) => [name, { type: 'string', format: name }])),
      },
      data: Object.fromEntries(texts),
      ajv: {
        customOptions: (ajv) => {
          for (const { name, row } of rows) {
            ajv.addFormat(name, (text: string) => {
              const parsed = row.kind.parse(text, vocabulary);
              if (parsed.state === 'bad') flaws.set(name, parsed.flaws);
              return parsed.state === 'good';
            });
          }
          return ajv;
        },
      },
    });
    return [];
  } catch (error) {
    // The schema's own message says which format was missed; the flaws that the formats noted say why.
    if (flaws.size === 0) throw error;
    return rows.flatMap(({ name, row }) =>
      (flaws.get(name) ?? []).map((flaw) => ({ variable: name, line: faultLine(name, flaw, row.kind.expects) })),
    );
  }
}

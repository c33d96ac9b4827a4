import { variableRows } from '../../src/catalog.ts';

/** The text that counts when a variable is not set. */
export function defaultOf(name: string): string {
  const text = variableRows.find((one) => one.name === name)?.row.default;
  if (text === undefined) throw new Error(`no default of ${name}; expected a variable that has one`);
  return text;
}

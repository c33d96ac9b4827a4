import type { Format, Parsed } from './format.ts';

/** A value as JSON Schema says it, with its format as an object. The schema of the section has the name instead. */
export interface ValueSchema {
  /** If it is missing, the value is a string. */
  readonly type?: 'boolean' | typeof LIST.type;
  readonly enum?: readonly string[];
  readonly format?: Format<unknown>;
  readonly formatMinimum?: string;
  readonly formatMaximum?: string;
  readonly separator?: typeof LIST.separator;
  readonly minItems?: typeof LIST.minItems;
  readonly items?: ValueSchema;
}

/** A list in one text: `separator` splits it, and `items` says what each entry is. */
export const LIST = { type: ['string', 'array'], separator: ',', minItems: 1 } as const;

export interface Variable extends ValueSchema {
  /** The default, written as in the environment. */
  readonly default?: string;
  /** What happens if the variable is not set and has no default. */
  readonly unset?: string;
  /** One line for `--help` and the reference; backticks around code. */
  readonly help: string;
}

export interface NamedVariable {
  readonly name: string;
  readonly row: Variable;
}

/** The values of the variables that are set, by name; none is an empty string. */
export type VariableTexts = ReadonlyMap<string, string>;

export type ReadFile = (path: string) => string;

export type Rows = Readonly<Record<string, Variable>>;

type ValueOf<Schema> = Schema extends { readonly enum: readonly (infer Word)[] }
  ? Word
  : Schema extends { readonly items: infer Entry }
    ? readonly ValueOf<Entry>[]
    : Schema extends { readonly format: infer Form }
      ? MeaningOf<Form>
      : Schema extends { readonly type: 'boolean' }
        ? boolean
        : unknown;

type MeaningOf<Form> = Form extends { valueIn(path: string, content: string): Parsed<infer Value> }
  ? Value
  : Form extends Format<infer Value>
    ? Value
    : never;

/** The value of every variable, in the type of its format or of the file it names; undefined only without a default. */
export type Values<Table extends Rows> = {
  readonly [Name in keyof Table]:
    | ValueOf<Table[Name]>
    | (Table[Name] extends { readonly default: string } ? never : undefined);
};

/** A short name of the type, for `--help` and the reference. */
export function labelOf(schema: ValueSchema): string {
  const { enum: words, format, items } = schema;
  if (items !== undefined) return `list of ${items.enum === undefined ? labelOf(items) : 'words'}`;
  return words?.join(', ') ?? (format === undefined ? 'true or false' : format.label + rangeOf(schema));
}

/** Completes the error line: `expected …`. */
export function expectationOf(schema: Omit<Variable, 'help'>): string {
  const { enum: words, format, items, default: text } = schema;
  if (items !== undefined) return `a comma-separated list of ${items.enum?.join(', ') ?? expectationOf(items)}`;
  if (words !== undefined) return `one of ${words.join(', ')}`;
  if (format === undefined) return 'true or false';
  const range = rangeOf(schema);
  return format.expects + range + (range === '' || text === undefined ? '' : `, such as ${text}`);
}

function rangeOf({ formatMinimum: least, formatMaximum: most }: ValueSchema): string {
  if (least === undefined) return '';
  return most === undefined ? ` of at least ${least}` : ` from ${least} to ${most}`;
}

/** The text of a value, as an operator could have set it. */
export function textOf({ format, items }: ValueSchema, value: unknown): string {
  if (items !== undefined && Array.isArray(value)) return value.map((entry) => textOf(items, entry)).join(',');
  return format?.show?.(value) ?? String(value);
}

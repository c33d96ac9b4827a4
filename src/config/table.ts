import type { Format } from './format.ts';

export interface Variable {
  readonly format: Format<unknown>;
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

export type Rows = Readonly<Record<string, Variable>>;

/** The values of the variables that are set, by name; none is an empty string. */
export type VariableTexts = ReadonlyMap<string, string>;

type ValueOf<Form> = Form extends Format<infer Value> ? Value : never;

/** The value of every variable, in the type of its format; undefined only without a default. */
export type Values<Table extends Rows> = {
  readonly [Name in keyof Table]:
    | ValueOf<Table[Name]['format']>
    | (Table[Name] extends { readonly default: string } ? never : undefined);
};

export interface SetVariables<Table extends Rows> {
  /** Whether the variable or its `NAME_FILE` is set, valid or not. */
  isSet(name: string): boolean;
  /** The values that are set and valid. */
  readonly values: Partial<Values<Table>>;
}

interface SectionDefinition<Table extends Rows, Settings, Url> {
  /** The variable without which the others have no effect. */
  readonly url: Url;
  readonly variables: Table;
  /** The errors in combinations of variables, one line each, which begins with a variable. */
  readonly errors: (given: SetVariables<Table>) => readonly string[];
  /** Called only without errors. */
  readonly toSettings: (values: Values<Table>) => Settings;
}

/** Some variables, and what they mean together. */
export interface Section<Settings = unknown, Url = string | undefined> {
  readonly url: Url;
  readonly rows: readonly NamedVariable[];
  errors(given: SetVariables<Rows>): readonly string[];
  toSettings(values: Values<Rows>): Settings;
}

export function section<const Table extends Rows, Settings, Url extends (string & keyof Table) | undefined>(
  parts: SectionDefinition<Table, Settings, Url>,
): Section<Settings, Url> {
  const { url, variables, errors, toSettings } = parts;
  return {
    url,
    rows: Object.entries<Variable>(variables).map(([name, row]) => ({ name, row })),
    // The casts are safe: the formats of these rows have read the values.
    errors: (given) => errors(given as SetVariables<Table>),
    toSettings: (values) => toSettings(values as Values<Table>),
  };
}

/** The variables of one service, which is polled if its URL is set: the part before `URL` is the prefix of all its variables. */
export interface ServiceSection<Settings = unknown> extends Section<Settings | undefined, string> {
  readonly api: string;
  /** The settings in a configuration; undefined if the service is not polled. */
  of(config: { readonly services: ReadonlyMap<string, unknown> }): Settings | undefined;
}

export function serviceSection<const Table extends Rows, Settings>({
  api,
  ...parts
}: SectionDefinition<Table, Settings | undefined, string & keyof Table> & {
  readonly api: string;
}): ServiceSection<Settings> {
  return { ...section(parts), api, of: ({ services }) => services.get(api) as Settings | undefined };
}

export function isSecret({ format }: Variable): boolean {
  return format.isSecret === true;
}

export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

export function namesOf(rows: readonly NamedVariable[]): readonly string[] {
  return rows.flatMap(({ name, row }) => (isSecret(row) ? [name, fileVariable(name)] : [name]));
}

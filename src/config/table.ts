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

export type ReadFile = (path: string) => string;

type ValueOf<Form> = Form extends {
  valueIn(path: string, content: string): { state: 'valid'; value: infer Value } | object;
}
  ? Value
  : Form extends Format<infer Value>
    ? Value
    : never;

/** The value of every variable, in the type of its format or of the file it names; undefined only without a default. */
export type Values<Table extends Rows> = {
  readonly [Name in keyof Table]:
    | ValueOf<Table[Name]['format']>
    | (Table[Name] extends { readonly default: string } ? never : undefined);
};

export interface SetVariables<Table extends Rows> {
  /** Whether the variable or its `NAME_FILE` is set, valid or not. */
  isSet(name: string & keyof Table): boolean;
  /** Only valid values that are set. */
  readonly values: Partial<Values<Table>>;
}

interface SectionDefinition<Table extends Rows, Settings> {
  /** The variable without which the others have no effect. */
  readonly url?: string & keyof Table;
  readonly variables: Table;
  /** The errors in combinations of variables, one line each, which begins with a variable. */
  readonly errors?: (given: SetVariables<Table>) => readonly string[];
  /** Called only without errors. */
  readonly toSettings: (values: Values<Table>) => Settings;
  /** For `--check-config`: texts that differ from what is set, because the settings follow from several variables. */
  readonly show?: (settings: NonNullable<Settings>) => { readonly [Name in keyof Table]?: string | undefined };
}

/** The text in effect of each variable that has an effect; undefined if it is not set. */
export type EffectiveValues = Readonly<Record<string, string | undefined>>;

/** Some variables, and what they mean together. */
export interface Section<Settings = unknown> {
  readonly rows: readonly NamedVariable[];
  errors(given: SetVariables<Rows>): readonly string[];
  toSettings(values: Values<Rows>): { readonly settings: Settings; readonly shown: EffectiveValues };
}

export function section<const Table extends Rows, Settings>(
  parts: SectionDefinition<Table, Settings>,
): Section<Settings> {
  const { url, variables, errors, toSettings, show } = parts;
  const rows = Object.entries<Variable>(variables).map(([name, row]) => ({ name, row }));
  return {
    rows,
    // The casts are safe: the formats of these rows have read the values.
    errors: (given) => errors?.(given as SetVariables<Table>) ?? [],
    toSettings: (values) => {
      const settings = toSettings(values as Values<Table>);
      if (url !== undefined && values[url] === undefined) return { settings, shown: { [url]: undefined } };
      const shown: Record<string, string | undefined> = {};
      for (const { name, row } of rows) {
        shown[name] = values[name] === undefined ? undefined : textOf(row, values[name]);
      }
      return { settings, shown: { ...shown, ...(settings && show?.(settings)) } };
    },
  };
}

/** The text of a value, as an operator could have set it. */
function textOf({ format }: Variable, value: unknown): string {
  return format.show?.(value) ?? String(value);
}

/** The variables of one service, which is polled if its URL is set. */
export interface ServiceSection<Settings = unknown> extends Section<Settings | undefined> {
  readonly api: string;
  /** The name of the variable with its URL; the part before `URL` is the prefix of all its variables. */
  readonly url: string;
  /**
   * Names the settings that the service needs to keep history, and whether these settings have them; missing if the
   * service never keeps history.
   */
  readonly history?: { readonly needs: string; isKept(settings: NonNullable<Settings>): boolean };
  /** The settings in a configuration; undefined if the service is not polled. */
  of(config: { readonly services: ReadonlyMap<string, unknown> }): Settings | undefined;
}

export function serviceSection<const Table extends Rows, Settings>({
  api,
  history,
  ...parts
}: SectionDefinition<Table, Settings | undefined> &
  Pick<ServiceSection<Settings>, 'history'> & {
    readonly api: string;
    readonly url: string & keyof Table;
  }): ServiceSection<Settings> {
  return {
    ...section<Table, Settings | undefined>(parts),
    api,
    url: parts.url,
    ...(history && { history }),
    of: ({ services }) => services.get(api) as Settings | undefined,
  };
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

import type { Parsed, VariableType } from './variable-type.ts';

export interface Variable<Value = unknown> {
  readonly kind: VariableType<Value>;
  /** The default, written as in the environment. */
  readonly default?: string;
  /** What happens if the variable is not set and has no default. */
  readonly unset?: string;
  /** One line for `--help` and the reference; backticks around code. */
  readonly help: string;
}

export type Rows = Readonly<Record<string, Variable>>;

export interface NamedVariable {
  readonly name: string;
  readonly row: Variable;
}

type ValueOf<R> = R extends { readonly kind: infer K }
  ? MeaningOf<K> | (R extends { readonly default: string } ? never : undefined)
  : never;

type MeaningOf<K> = K extends { valueIn(path: string, content: string): Parsed<infer Value> }
  ? Value
  : K extends VariableType<infer Value>
    ? Value
    : never;

/** Every variable's value in the type of its kind or of the file it names; undefined only if the row has no default. */
export type Values<Table extends Rows> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

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
  readonly toOptions: (values: Values<Table>) => Settings;
  /** For `--check-config`: texts that differ from what is set, because the settings follow from several variables. */
  readonly show?: (settings: NonNullable<Settings>) => { readonly [Name in keyof Table]?: string | undefined };
}

/** The text in effect of each variable that has an effect; undefined if it is not set. */
export type EffectiveValues = Readonly<Record<string, string | undefined>>;

export interface Section<Settings = unknown> {
  readonly rows: readonly NamedVariable[];
  /** The schema of these variables for env-schema. */
  readonly schema: object;
  errors(given: SetVariables<Rows>): readonly string[];
  toOptions(values: Values<Rows>): { readonly settings: Settings; readonly shown: EffectiveValues };
}

export function section<const Table extends Rows, Settings>(
  parts: SectionDefinition<Table, Settings>,
): Section<Settings> {
  const { url, variables, errors, toOptions, show } = parts;
  const rows = Object.entries<Variable>(variables).map(([name, row]) => ({ name, row }));
  const properties = rows.map(({ name, row }) => [name, { type: 'string', default: row.default, kind: row.kind }]);
  return {
    rows,
    schema: { type: 'object', properties: Object.fromEntries(properties) },
    // The cast is safe: the types of these rows have parsed the values.
    errors: (given) => errors?.(given as SetVariables<Table>) ?? [],
    toOptions: (values) => {
      const settings = toOptions(values as Values<Table>);
      if (url !== undefined && values[url] === undefined) return { settings, shown: { [url]: undefined } };
      const texts = rows.map(({ name, row }) => [name, textOf(row, values[name])] as const);
      return { settings, shown: { ...Object.fromEntries(texts), ...(settings && show?.(settings)) } };
    },
  };
}

function textOf({ kind }: Variable, value: unknown): string | undefined {
  return value === undefined ? undefined : (kind.show?.(value) ?? String(value));
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

export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

export function namesOf(rows: readonly NamedVariable[]): readonly string[] {
  return rows.flatMap(({ name, row }) => (row.kind.isSecret ? [name, fileVariable(name)] : [name]));
}

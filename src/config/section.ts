import type { Config } from './config.ts';
import type { Kind } from './kind.ts';

/** One variable in the operator's words. */
export interface Row<Value = unknown> {
  readonly kind: Kind<Value>;
  /** The text that counts when the variable is not set. */
  readonly default?: string;
  /** Where there is no such text: what happens when the variable is not set. */
  readonly unset?: string;
  /** The value is never shown. */
  readonly secret?: true;
  /** `NAME_FILE` may name a file that holds the value. */
  readonly file?: true;
  /** One line for `--help` and the README; backticks around code. */
  readonly help: string;
}

/** Rows by the name of their variable. */
export type Rows = Readonly<Record<string, Row>>;

export interface NamedRow {
  readonly name: string;
  readonly row: Row;
}

type ValueOf<R> = R extends { readonly kind: Kind<infer Value> }
  ? Value | (R extends { readonly default: string } ? never : undefined)
  : never;

/** Every variable's value in the type of its kind; undefined only where the row has no default. */
export type Values<Table extends Rows> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> };

/** One line for the operator, and the row that decides its place among the others. */
export interface Fault {
  /** Undefined for what belongs to no row: such lines come last. */
  readonly variable: string | undefined;
  readonly line: string;
}

export function fault(variable: string, text: string): Fault {
  return { variable, line: `${variable}: ${text}` };
}

/** What the operator has given for some rows. */
export interface Given<Table extends Rows> {
  /** Whether the variable or its `NAME_FILE` is set, well or not. */
  isSet(name: string & keyof Table): boolean;
  /** Without what is not set and what is wrong by itself. */
  readonly values: Partial<Values<Table>>;
}

/** Some variables, and what they come to together. */
interface SectionParts<Table extends Rows, Settings> {
  readonly variables: Table;
  /** The lines about variables that do not go together. */
  readonly faults: (given: Given<Table>) => readonly Fault[];
  /** Called only where there is no fault. */
  readonly settle: (values: Values<Table>) => Settings;
  /** Texts by variable, for `--check-config`: undefined for what is not set. */
  readonly show: (settings: Settings) => { readonly [Name in keyof Table]?: string | undefined };
}

/** {@link SectionParts} of any variables. */
export interface Section<Settings = unknown> {
  readonly rows: readonly NamedRow[];
  faults(given: Given<Rows>): readonly Fault[];
  settle(values: Values<Rows>): Settings;
  show(settings: Settings): Readonly<Record<string, string | undefined>>;
}

export function section<const Table extends Rows, Settings>(parts: SectionParts<Table, Settings>): Section<Settings> {
  const { variables, faults, settle, show } = parts;
  return {
    rows: Object.entries(variables).map(([name, row]) => ({ name, row })),
    // The values are read by the rows themselves, which is what gives them these types.
    faults: (given) => faults(given as Given<Table>),
    settle: (values) => settle(values as Values<Table>),
    show,
  };
}

/** The variables of one service. It is polled where its URL is set. */
export interface ServiceSection<Settings = unknown> extends Section<Settings | undefined> {
  readonly api: string;
  /** The name of the variable that holds its URL; what is before `URL` begins every variable of the service. */
  readonly url: string;
  /** What a configuration says of it; undefined where it is not polled. */
  of(config: Pick<Config, 'services'>): Settings | undefined;
}

export function serviceSection<const Table extends Rows, Settings>({
  api,
  url,
  ...parts
}: SectionParts<Table, Settings | undefined> & {
  readonly api: string;
  readonly url: string & keyof Table;
}): ServiceSection<Settings> {
  return {
    ...section<Table, Settings | undefined>(parts),
    api,
    url,
    of: ({ services }) => services.get(api) as Settings | undefined,
  };
}

/** The name under which a variable's value is given as a file. */
export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

import { parseEnv } from 'node:util';
import { nearest } from '../runtime/nearest.ts';
import { quoted } from './kind.ts';
import { fileVariable, rows, type VariableName } from './variables.ts';

/** Variables that are set, by name; never to an empty text. */
export type Texts = ReadonlyMap<string, string>;

/** One line for the operator, and the row that decides its place among the others. */
export interface Fault {
  /** Undefined for what belongs to no row: such lines come last. */
  readonly variable: VariableName | undefined;
  readonly line: string;
}

/** How a file is read: the whole text, or an error with a `code`. */
export type ReadFile = (path: string) => string;

/**
 * The variables of the environment and, beneath them, of `.env` in the working directory. An empty text is as good as
 * none, for Compose and Kubernetes pass those for what nobody filled in.
 */
export function settledTexts(
  environment: Readonly<Record<string, string | undefined>>,
  readFile: ReadFile,
): { readonly texts: Texts; readonly faults: readonly Fault[] } {
  const texts = new Map<string, string>();
  const faults: Fault[] = [];
  const take = (source: Readonly<Record<string, string | undefined>>) => {
    for (const [name, text] of Object.entries(source)) if (text !== undefined && text !== '') texts.set(name, text);
  };
  try {
    // A byte order mark would become part of the first name.
    take(parseEnv(readFile('.env').replace(/^\uFEFF/, '')));
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT') faults.push({ variable: undefined, line: `.env: cannot be read (${code})` });
  }
  take(environment);
  return { texts, faults };
}

/** The system's word for why a file could not be read, such as `EACCES`. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown reason';
}

const OURS = /^(?:GFA|PORTAL)_/;

/** What Kubernetes sets in every container for a Service called gfa, portal, or portal-something in its namespace. */
const SERVICE_LINK =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)$/;

const KNOWN: readonly string[] = rows.flatMap(({ name, row }) => (row.file ? [name, fileVariable(name)] : [name]));

/** A line for each variable that bears our prefixes and has no row: most likely a slip that would go unnoticed. */
export function unknownVariables(texts: Texts): readonly Fault[] {
  return [...texts.keys()]
    .filter((name) => OURS.test(name) && !KNOWN.includes(name) && !SERVICE_LINK.test(name))
    .sort((one, other) => (one < other ? -1 : 1))
    .map((name) => {
      const withoutFile = name.replace(/_FILE$/, '');
      const meant = KNOWN.includes(withoutFile) ? withoutFile : nearest(name, KNOWN);
      const shown = /^\w+$/.test(name) ? name : quoted(name);
      return { variable: undefined, line: `${shown}: unknown variable; did you mean ${meant}?` };
    });
}

import { parseEnv } from 'node:util';
import { editDistance, nearest } from '../runtime/suggest.ts';
import { quoted } from './kind.ts';
import { type Fault, fileVariable, type NamedRow, type ServiceSection } from './section.ts';

/** Variables that are set, by name; never to an empty text. */
export type Texts = ReadonlyMap<string, string>;

/** How a file is read: the whole text, or an error with a `code`. */
export type ReadFile = (path: string) => string;

/** The same while the program runs, when nothing may wait for a disk. */
export type ReadAgain = (path: string) => Promise<string>;

/** What the operator has set, wherever that is. */
export interface Settled {
  readonly texts: Texts;
  readonly faults: readonly Fault[];
  /** Whether there is a secret among what `.env` sets, be it one that counts or not; undefined where there is no `.env`. */
  readonly dotenvHasSecret: boolean | undefined;
}

/**
 * The variables of the environment and, beneath them, of `.env` in the working directory. An empty text is as good as
 * none, for Compose and Kubernetes pass those for what nobody filled in.
 */
export function settledTexts(
  environment: Readonly<Record<string, string | undefined>>,
  readFile: ReadFile,
  rows: readonly NamedRow[],
): Settled {
  const { set: beneath, isThere, faults } = dotenv(readFile);
  const set = setOf(environment);
  const texts = new Map<string, string>(beneath);
  for (const name of set.keys()) {
    // Either case is the same variable: that of `.env` must not stand beside the environment's and go before it.
    if (PROXY.test(name)) for (const spelt of [name.toLowerCase(), name.toUpperCase()]) texts.delete(spelt);
  }
  for (const [name, text] of set) texts.set(name, text);
  return {
    texts,
    faults: [...faults, ...tooLateFaults(beneath, set)],
    dotenvHasSecret: isThere ? [...beneath].some(([name, text]) => isSecret(rows, name, text)) : undefined,
  };
}

const PROXY = /^(?:https?|no)_proxy$/i;

function setOf(source: Readonly<Record<string, string | undefined>>): Texts {
  return new Map(Object.entries(source).flatMap(([name, text]) => (text ? [[name, text] as const] : [])));
}

function dotenv(readFile: ReadFile): {
  readonly set: Texts;
  readonly isThere: boolean;
  readonly faults: readonly Fault[];
} {
  try {
    // A byte order mark would become part of the first name.
    return { set: setOf(parseEnv(readFile('.env').replace(/^\uFEFF/, ''))), isThere: true, faults: [] };
  } catch (error) {
    const code = codeOf(error);
    const faults = code === 'ENOENT' ? [] : [{ variable: undefined, line: `.env: cannot be read (${code})` }];
    return { set: new Map(), isThere: false, faults };
  }
}

/** What Node itself reads before there is a program that could read `.env`. */
function tooLateFaults(beneath: Texts, environment: Texts): readonly Fault[] {
  const name = 'NODE_EXTRA_CA_CERTS';
  if (!beneath.has(name) || environment.has(name)) return [];
  const expected = 'expected in the environment that the process is started with';
  return [{ variable: undefined, line: `${name}: is set in .env, where Node does not look for it; ${expected}` }];
}

/** A proxy's URL may hold a password. */
function isSecret(rows: readonly NamedRow[], name: string, text: string): boolean {
  return rows.some(({ name: known, row }) => known === name && row.secret) || (PROXY.test(name) && text.includes('@'));
}

/** The system's word for why a file could not be read, such as `EACCES`. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown reason';
}

/** What Kubernetes sets in every container for a Service that is called as ours, in its namespace. */
const SERVICE_LINK =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)$/;

/** A line for each variable that begins as those of a service and has no row: most likely a slip that would go unnoticed. */
export function unknownVariables(
  texts: Texts,
  rows: readonly NamedRow[],
  services: readonly ServiceSection[],
): readonly Fault[] {
  const known = rows.flatMap(({ name, row }) => (row.file ? [name, fileVariable(name)] : [name]));
  const isOurs = (name: string) => services.some(({ url }) => name.startsWith(url.replace(/URL$/, '')));
  return [...texts.keys()]
    .filter((name) => isOurs(name) && !known.includes(name) && !SERVICE_LINK.test(name))
    .sort((one, other) => (one < other ? -1 : 1))
    .map((name) => {
      const withoutFile = name.replace(/_FILE$/, '');
      const meant = known.includes(withoutFile) ? withoutFile : nearest(name, known);
      const shown = /^\w+$/.test(name) ? name : quoted(name);
      return { variable: undefined, line: `${shown}: unknown variable; did you mean ${meant}?` };
    });
}

/**
 * A line for each variable that is no row and is spelt almost as one: it has no effect, which may be a slip, and may be
 * meant for another program.
 */
export function nearMisses(
  texts: Texts,
  rows: readonly NamedRow[],
  services: readonly ServiceSection[],
): readonly string[] {
  const known = rows.flatMap(({ name, row }) => (row.file ? [name, fileVariable(name)] : [name]));
  const bare = (name: string) => name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  const isMissed = (name: string) => (one: string) =>
    bare(one) === bare(name) || (name.length >= 8 && editDistance(name, one) <= (name.length >= 12 ? 2 : 1));
  const told = new Set(unknownVariables(texts, rows, services).map(({ line }) => line.split(':')[0]));
  return [...texts.keys()]
    .filter((name) => !known.includes(name) && !told.has(name))
    .flatMap((name) => {
      const meant = known.find(isMissed(name));
      return meant === undefined ? [] : [`${name}: has no effect here; did you mean ${meant}?`];
    });
}

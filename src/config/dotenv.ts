import { parseEnv } from 'node:util';
import { errorCode } from '../runtime/errors.ts';
import { nearest } from '../runtime/suggest.ts';
import { quoted } from './format.ts';
import { type NamedVariable, namesOf, type ServiceSection, type VariableTexts } from './table.ts';

export const DOTENV = '.env';

/**
 * Returns the variables of the environment, and those of `.env` that the environment does not set. An empty value
 * counts as unset, because Compose and Kubernetes pass empty values for missing ones.
 */
export function mergeDotenv(
  environment: Readonly<Record<string, string | undefined>>,
  /** The content of `.env`, or why it was not read. */
  content: string | Error,
) {
  const errors: string[] = [];
  const beneath = dotenvIn(content, errors);
  const set = setOf(environment);
  errors.push(...nodeErrors(beneath, set));
  return { texts: new Map([...beneath, ...set]), errors };
}

function setOf(source: Readonly<Record<string, string | undefined>>): VariableTexts {
  return new Map(Object.entries(source).flatMap(([name, text]) => (text ? [[name, text] as const] : [])));
}

/** Matches a line whose value has no quotes and a `#` that follows no blank, so that it is hardly meant as a comment. */
const CUT_VALUE = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=[ \t]*[^\s"'`#][^\n#]*(?<=\S)#/gm;

function dotenvIn(content: string | Error, errors: string[]): VariableTexts {
  if (typeof content === 'string') {
    for (const [, name = ''] of content.matchAll(CUT_VALUE)) {
      errors.push(`${DOTENV}: ${name} has a # in a value without quotes, which cuts the value; expected it in quotes`);
    }
    // A byte order mark would become part of the first name.
    return setOf(parseEnv(content.replace(/^\uFEFF/, '')));
  }
  const code = errorCode(content);
  if (code !== 'ENOENT') errors.push(`${DOTENV}: cannot be read (${code ?? 'unknown reason'})`);
  return new Map();
}

/**
 * Finds two variables of Node.js: one that Node.js reads before this program can read `.env`, and one that the exporter
 * would ignore.
 */
function nodeErrors(beneath: VariableTexts, environment: VariableTexts): readonly string[] {
  const errors: string[] = [];
  if (beneath.has('NODE_EXTRA_CA_CERTS') && !environment.has('NODE_EXTRA_CA_CERTS')) {
    const expected = 'set it in the environment of the process';
    errors.push(`NODE_EXTRA_CA_CERTS: is set in .env, which Node does not read; ${expected}`);
  }
  if ((environment.get('NODE_TLS_REJECT_UNAUTHORIZED') ?? beneath.get('NODE_TLS_REJECT_UNAUTHORIZED')) === '0') {
    const expected = 'certificates are always checked; add your own certificate authority with NODE_EXTRA_CA_CERTS';
    errors.push(`NODE_TLS_REJECT_UNAUTHORIZED: is 0; expected to be unset: ${expected}`);
  }
  return errors;
}

/** Matches variables that Kubernetes sets in every container for a Service whose name begins like ours. */
const SERVICE_LINK =
  /_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)$/;

/** An unknown variable is an error if it has the prefix of a service. */
export function unknownVariables(
  texts: VariableTexts,
  rows: readonly NamedVariable[],
  services: readonly ServiceSection[],
): readonly string[] {
  const known = namesOf(rows);
  const isOurs = (name: string) => services.some(({ url }) => name.startsWith(url.replace(/URL$/, '')));
  return [...texts.keys()]
    .filter((name) => !known.includes(name) && !SERVICE_LINK.test(name) && isOurs(name))
    .sort((one, other) => (one < other ? -1 : 1))
    .map((name) => {
      const withoutFile = name.replace(/_FILE$/, '');
      const meant = known.includes(withoutFile) ? withoutFile : nearest(name, known);
      const shown = /^\w+$/.test(name) ? name : quoted(name);
      return `${shown}: unknown variable; did you mean ${meant}?`;
    });
}

import type { Config } from './config.ts';
import { allVariables } from './load.ts';
import { isSecret, type NamedVariable, type ServiceSection } from './table.ts';

/** Returns the table of variables for `--help`. */
export function helpText(rows: readonly NamedVariable[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
  const paragraphs = rows.map(({ name, row }) => {
    const byDefault = row.default ?? row.unset;
    const facts = `${row.format.label}${isSecret(row) ? ' (file)' : ''}${byDefault ? `; default: ${byDefault}` : ''}`;
    return `  ${name.padEnd(width)}${facts}\n  ${' '.repeat(width)}${row.help}\n`.replaceAll('`', '');
  });
  return `Environment variables, also read from .env in the working directory:

${paragraphs.join('')}
Durations are Prometheus durations: 500ms, 15s, 5m, 1h30m.
(file): NAME_FILE may instead be the path of a file with the value.
HTTP_PROXY, HTTPS_PROXY, NO_PROXY and NODE_EXTRA_CA_CERTS are honoured.
`;
}

/**
 * The configuration for `--check-config`: `NAME=value` in table order, with nothing after the `=` of an unset variable.
 * Apart from the secrets, which show as `[redacted]`, it is a valid `.env` file. A disabled API has only its empty URL.
 */
export function effectiveConfiguration(config: Config, services: readonly ServiceSection[]): string {
  const lines: string[] = [];
  for (const { name, row } of allVariables(services)) {
    if (!(name in config.shown)) continue;
    const text = config.shown[name];
    // A value here would count as a choice of the operator, so the value in effect is written as a comment.
    if (text === undefined && row.unset !== undefined) {
      lines.push(`# ${name}: not set; ${row.unset.replaceAll('`', '')}`);
    } else {
      lines.push(`${name}=${dotenvValue(text ?? '')}`);
    }
  }
  const { httpProxy, httpsProxy, noProxy } = config.requests.proxy ?? {};
  const proxies = { HTTP_PROXY: httpProxy?.shown, HTTPS_PROXY: httpsProxy?.shown, NO_PROXY: noProxy };
  for (const [name, text] of Object.entries(proxies)) {
    if (text !== undefined) lines.push(`${name}=${dotenvValue(text)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Characters that mean something else in a value of `.env` without quotes, and blanks that would be cut off. */
const NEEDS_QUOTES = /[#'"`\\\r\n]|^\s|\s$/;

/** Quotes a value so that it is read unchanged: between double quotes, `\n` would become a line break. */
function dotenvValue(text: string): string {
  if (!NEEDS_QUOTES.test(text)) return text;
  const quote = ["'", '`', '"'].find((mark) => !text.includes(mark)) ?? "'";
  return `${quote}${text}${quote}`;
}

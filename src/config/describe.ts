import type { Config } from './config.ts';
import { allVariables } from './load.ts';
import { labelOf, type NamedVariable } from './schema.ts';
import { isSecret, type ServiceSection } from './section.ts';

/** Returns the table of variables for `--help`. */
export function helpText(rows: readonly NamedVariable[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
  const paragraphs = rows.map(({ name, row }) => {
    const byDefault = row.default ?? row.unset;
    const facts = `${labelOf(row)}${isSecret(row) ? ' (file)' : ''}${byDefault ? `; default: ${byDefault}` : ''}`;
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
  const lines = allVariables(services).flatMap(({ name, row }) => {
    if (!(name in config.shown)) return [];
    const text = config.shown[name];
    // A value here would count as a choice of the operator, so the value in effect is written as a comment.
    if (text === undefined && row.unset !== undefined)
      return [`# ${name}: not set; ${row.unset.replaceAll('`', '')}\n`];
    return [`${name}=${text ?? ''}\n`];
  });
  const { httpProxy, httpsProxy, noProxy } = config.requests.proxy ?? {};
  const proxies = { HTTP_PROXY: httpProxy?.shown, HTTPS_PROXY: httpsProxy?.shown, NO_PROXY: noProxy };
  for (const [name, text] of Object.entries(proxies)) if (text !== undefined) lines.push(`${name}=${text}\n`);
  return lines.join('');
}

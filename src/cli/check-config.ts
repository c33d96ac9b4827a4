import { stateFileErrors, stateFolderErrors } from '../app/state-file.ts';
import { variableRows } from '../catalog.ts';
import type { Config, ProxyUrl } from '../config/config.ts';
import { ConfigError } from '../runtime/errors.ts';
import { REDACTED } from '../runtime/secret.ts';
import { readWebConfig } from '../web/web-config.ts';
import { EXIT } from './arguments.ts';
import type { CommandContext } from './command-context.ts';
import { print } from './output.ts';

export async function checkConfig(config: Config, { readFile, stdout }: CommandContext): Promise<number> {
  await readWebConfig(config.web.configFile, readFile);
  await print(effectiveConfiguration(config), stdout);
  const errors = [
    ...placeholderErrors(config),
    ...(await stateFileErrors(config.stateFile)),
    ...(await stateFolderErrors(config.stateFile)),
  ];
  if (errors.length > 0) throw new ConfigError(errors);
  await print('# the configuration is valid', stdout);
  return EXIT.clean;
}

/** Matches what examples contain in the place of a secret. */
const PLACEHOLDER = /^(?:(?:replace|change)[-_ ]?(?:me|this)|your[-_ ].*|<.*>|x{3,}|secret|token|password|todo)$/i;

function placeholderErrors({ secrets }: Config): readonly string[] {
  return [...secrets]
    .filter(([, secret]) => PLACEHOLDER.test(secret.reveal()))
    .map(([name]) => `${name}: is the placeholder of an example; expected the value that the service issued`);
}

/**
 * The configuration for `--check-config`: `NAME=value` in table order, with nothing after the `=` of an unset variable.
 * Apart from the secrets, which show as `[redacted]`, it is a valid `.env` file. A disabled API has only its empty URL.
 */
export function effectiveConfiguration(config: Config): string {
  const lines: string[] = [];
  for (const { name, row } of variableRows) {
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
  const shown = (proxy: ProxyUrl | undefined) =>
    proxy?.authorization === undefined ? proxy?.url : proxy.url.replace('//', `//${REDACTED}@`);
  const proxies = { HTTP_PROXY: shown(httpProxy), HTTPS_PROXY: shown(httpsProxy), NO_PROXY: noProxy };
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

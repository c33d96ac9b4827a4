import { parseEnv } from 'node:util';
import { asError, ConfigError, errorCode } from '../runtime/errors.ts';
import { Secret } from '../runtime/secret.ts';
import type { ReadText } from '../runtime/small-files.ts';
import { isLoopback } from './addresses.ts';
import type { Config } from './config.ts';
import { DOTENV, mergeDotenv, unknownVariables } from './dotenv.ts';
import type { OwnFile } from './file-permissions.ts';
import { quotedPath } from './format.ts';
import { proxies } from './proxy.ts';
import { readVariables } from './read-variables.ts';
import { remoteWriteSection } from './remote-write.ts';
import {
  fileVariable,
  isSecret,
  type NamedVariable,
  type Rows,
  type Section,
  type ServiceSection,
  type SetVariables,
  type Values,
  type VariableTexts,
} from './table.ts';
import { commonSection } from './variables.ts';

function sectionsOf(services: readonly ServiceSection[]): readonly Section[] {
  return [...services, commonSection, remoteWriteSection];
}

/** Returns every variable in the order of `--help`, of the reference, and of error messages. */
export function allVariables(services: readonly ServiceSection[]): readonly NamedVariable[] {
  return sectionsOf(services).flatMap(({ rows }) => rows);
}

/** Rejects with one ConfigError with every error: those of single variables first, in their order. */
export async function loadConfig(
  environment: Readonly<Record<string, string | undefined>>,
  services: readonly ServiceSection[],
  readText: ReadText,
): Promise<Config> {
  const sections = sectionsOf(services);
  const rows = allVariables(services);
  const dotenv = await readText(DOTENV).catch(asError);
  const { texts, errors } = mergeDotenv(environment, dotenv);
  const values = await readVariables(rows, texts, readText, errors);
  const given = { isSet: (name: string) => texts.has(name) || texts.has(fileVariable(name)), values };
  errors.push(...noServiceErrors(services, given));
  for (const section of sections) errors.push(...secretErrors(section, given), ...section.errors(given));
  errors.push(...(await certificateErrors(texts, readText)));
  const proxy = proxies(texts, errors);
  errors.push(...unknownVariables(texts, rows, services));
  if (errors.length > 0) throw new ConfigError(errors);
  const common = commonSection.toSettings(values);
  return {
    ...common,
    remoteWrite: remoteWriteSection.toSettings(values),
    services: new Map(services.map((service) => [service.api, service.toSettings(values)])),
    shown: Object.assign({}, ...sections.map((section) => shownTexts(section, texts, values))),
    secrets: new Map(
      Object.entries(values).flatMap(([name, value]) => (value instanceof Secret ? [[name, value]] : [])),
    ),
    requests: { ...common.requests, proxy },
    ownFiles: ownFiles(rows, texts, dotenv),
  };
}

function ownFiles(rows: readonly NamedVariable[], texts: VariableTexts, dotenv: string | Error): readonly OwnFile[] {
  const secrets = rows.filter(({ row }) => isSecret(row)).map(({ name }) => name);
  const files = secrets.flatMap((name) => {
    const path = texts.get(fileVariable(name));
    return path === undefined ? [] : [{ path, isSecret: true }];
  });
  if (typeof dotenv !== 'string') return files;
  // It decides where tokens are sent, so only its owner may write it, even if it contains no secret.
  const containsSecret = Object.keys(parseEnv(dotenv)).some((name) => secrets.includes(name));
  return [...files, { path: DOTENV, isSecret: containsSecret }];
}

function noServiceErrors(services: readonly ServiceSection[], { isSet }: SetVariables<Rows>): readonly string[] {
  const [first, ...others] = services.map(({ url }) => url);
  if (first === undefined || services.some(({ url }) => isSet(url))) return [];
  return [`${first}: is not set and neither is ${others.join(' nor ')}; expected at least one of them`];
}

/**
 * A secret without the URL that it is sent to is a typing error in the URL, or a leftover. Secrets may be sent unencrypted
 * only within this machine, unless the operator allows it.
 */
function secretErrors({ url, rows }: Section, { isSet, values }: SetVariables<Rows>): readonly string[] {
  const secrets = rows.filter(({ name, row }) => isSecret(row) && isSet(name));
  if (url === undefined || secrets.length === 0) return [];
  if (!isSet(url)) return secrets.map(({ name }) => `${name}: is set but ${url} is not; expected both or neither`);
  const address = values[url];
  const mayBeSent = typeof address !== 'string' || address.startsWith('https:') || isLoopback(address);
  if (mayBeSent || values.ALLOW_INSECURE_UPSTREAM !== false) return [];
  const expected = 'expected https, or ALLOW_INSECURE_UPSTREAM=true to send keys and tokens unencrypted';
  return [`${url}: is an http URL beyond this machine; ${expected}`];
}

/** The text in effect of each variable that has an effect; undefined if it is not set. */
function shownTexts({ url, rows }: Section, texts: VariableTexts, values: Values<Rows>): Config['shown'] {
  const shown: Record<string, string | undefined> = {};
  for (const { name, row } of rows) {
    if (url !== undefined && name !== url && !texts.has(url)) continue;
    const value = values[name];
    shown[name] = value instanceof Secret ? value.toString() : (texts.get(name) ?? row.default);
  }
  return shown;
}

const EXTRA_CERTIFICATES = 'NODE_EXTRA_CA_CERTS';

/** Node itself only prints a warning about a file of certificate authorities that it cannot use. */
async function certificateErrors(texts: VariableTexts, readText: ReadText): Promise<readonly string[]> {
  const path = texts.get(EXTRA_CERTIFICATES);
  if (path === undefined) return [];
  const content = await readText(path).catch(asError);
  if (typeof content === 'string' && content.includes('-----BEGIN CERTIFICATE-----')) return [];
  const reason =
    typeof content === 'string'
      ? 'contains no certificate in PEM'
      : `cannot be read (${errorCode(content) ?? 'unknown reason'})`;
  const expected = 'expected the path of a PEM file with certificates of authorities';
  return [`${EXTRA_CERTIFICATES}: ${quotedPath(path)} ${reason}; ${expected}`];
}

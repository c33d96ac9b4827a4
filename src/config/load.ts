import { asError, ConfigError } from '../runtime/errors.ts';
import { Secret } from '../runtime/secret.ts';
import type { ReadText } from '../runtime/small-files.ts';
import type { Config } from './config.ts';
import { DOTENV, mergeDotenv, unknownVariables } from './dotenv.ts';
import { FileSecret, fileSecrets } from './file-secrets.ts';
import { readValues } from './parse-variables.ts';
import { PemFile } from './pem.ts';
import { proxies } from './proxy.ts';
import { remoteWriteSection } from './remote-write.ts';
import type { NamedVariable, ReadFile, Rows, Values } from './schema.ts';
import { fileVariable, namesOf, type Section, type ServiceSection } from './section.ts';
import { serviceErrors } from './service-rules.ts';
import { commonSection } from './variables.ts';

function sectionsOf(services: readonly ServiceSection[]): readonly Section[] {
  return [...services, commonSection, remoteWriteSection];
}

/** Returns every variable in the order of `--help`, of the reference, and of error messages. */
export function allVariables(services: readonly ServiceSection[]): readonly NamedVariable[] {
  return sectionsOf(services).flatMap(({ rows }) => rows);
}

/**
 * Rejects with a ConfigError. It reads every file before it parses, so that a disk that hangs does not block the event
 * loop.
 */
export async function loadConfig(
  environment: Readonly<Record<string, string | undefined>>,
  services: readonly ServiceSection[],
  { readSecret, readPem }: { readonly readSecret: ReadText; readonly readPem: ReadText },
): Promise<Config> {
  const rows = allVariables(services);
  const settled = mergeDotenv(environment, await readSecret(DOTENV).catch(asError), rows);
  const pathsOf = (kind: 'isSecret' | 'valueIn', nameOf: (name: string) => string) =>
    rows.flatMap(({ name, row }) => (row.format?.[kind] ? (settled.texts.get(nameOf(name)) ?? []) : []));
  const ways = new Map([
    ...pathsOf('valueIn', (name) => name).map((path) => [path, readPem] as const),
    ...pathsOf('isSecret', fileVariable).map((path) => [path, readSecret] as const),
  ]);
  const contents = new Map<string, string | Error>();
  await Promise.all([...ways].map(async ([path, read]) => contents.set(path, await read(path).catch(asError))));
  const readFile = (path: string) => {
    const content = contents.get(path);
    if (typeof content !== 'string') throw content;
    return content;
  };
  return configOf(settled, services, readFile, readSecret);
}

/** Throws one ConfigError with every error, in the order of the variables. */
export function configOf(
  { texts, dotenvHasSecret, errors: found }: ReturnType<typeof mergeDotenv>,
  services: readonly ServiceSection[],
  readFile: ReadFile,
  readAgain: ReadText,
): Config {
  const rows = allVariables(services);
  const sections = sectionsOf(services);
  const read = sections.map((section) => readValues(section, texts, readFile));
  const errors = [...found, ...read.flatMap((one) => one.errors)];
  const values: Values<Rows> = {
    ...Object.assign({}, ...read.map((one) => one.values)),
    ...fileSecrets(texts, rows, { readFile, readAgain }, errors),
  };
  const given = { isSet: (name: string) => texts.has(name) || texts.has(fileVariable(name)), values };
  errors.push(...serviceErrors(services, given), ...sections.flatMap((section) => section.errors(given)));
  const proxy = proxies(texts, errors);
  const unknown = unknownVariables(texts, rows, services);
  errors.push(...unknown.errors);
  if (errors.length > 0) throw new ConfigError(inTableOrder(errors, rows));
  const polled = services.map((service) => ({ api: service.api, ...service.toSettings(values) }));
  const [common, remoteWrite] = [commonSection.toSettings(values), remoteWriteSection.toSettings(values)];
  const isKept = services.some(({ history }, index) => {
    const settings = polled[index]?.settings;
    return settings !== undefined && settings !== null && history?.isKept(settings);
  });
  if (remoteWrite.settings !== undefined && !isKept) {
    const needs = services.flatMap(({ history }) => history?.needs ?? []).join(' or ');
    throw new ConfigError([`REMOTE_WRITE_URL: is set, but nothing that is polled has a history; expected ${needs}`]);
  }
  return {
    ...common.settings,
    remoteWrite: remoteWrite.settings,
    services: new Map(polled.map(({ api, settings }) => [api, settings])),
    shown: Object.assign({}, ...[...polled, common, remoteWrite].map(({ shown }) => shown)),
    secrets: new Map(
      Object.entries(values).flatMap(([name, value]) => (value instanceof Secret ? [[name, value]] : [])),
    ),
    requests: { ...common.settings.requests, proxy },
    warnings: unknown.warnings,
    ownFiles: [
      ...secretPaths(values).map((path) => ({ path, isSecret: true })),
      // `.env` decides where tokens are sent, so only its owner may write it, even if it contains no secret.
      ...(dotenvHasSecret === undefined ? [] : [{ path: DOTENV, isSecret: dotenvHasSecret }]),
    ],
  };
}

/** The files that variables name and that contain a secret, each once. */
function secretPaths(values: Values<Rows>): readonly string[] {
  const paths = Object.values(values).flatMap((value) =>
    value instanceof FileSecret || (value instanceof PemFile && value.hasKey) ? [value.path] : [],
  );
  return [...new Set(paths)];
}

/** Sorts error lines by variable. Lines that begin with no variable come last. */
function inTableOrder(errors: readonly string[], rows: readonly NamedVariable[]): readonly string[] {
  const names = namesOf(rows);
  const place = (line: string) => {
    const index = names.findIndex((name) => line.startsWith(`${name}:`));
    return index === -1 ? names.length : index;
  };
  return errors.toSorted((one, other) => place(one) - place(other));
}

import { asError, ConfigError, errorCode } from '../runtime/errors.ts';
import { Secret } from '../runtime/secret.ts';
import type { ReadText } from '../runtime/small-files.ts';
import type { Config } from './config.ts';
import { DOTENV, mergeDotenv, unknownVariables } from './dotenv.ts';
import { FileSecret, fileSecrets } from './file-secrets.ts';
import { quotedPath } from './format.ts';
import { PemFile } from './pem.ts';
import { proxies } from './proxy.ts';
import { readVariables } from './read-variables.ts';
import { remoteWriteSection } from './remote-write.ts';
import { serviceErrors } from './service-rules.ts';
import {
  fileVariable,
  isSecret,
  type NamedVariable,
  namesOf,
  type ReadFile,
  type Rows,
  type Section,
  type ServiceSection,
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

interface FileReaders {
  readonly readSecret: ReadText;
  readonly readPem: ReadText;
}

/** Rejects with one ConfigError with every error, in the order of the variables. */
export async function loadConfig(
  environment: Readonly<Record<string, string | undefined>>,
  services: readonly ServiceSection[],
  readers: FileReaders,
): Promise<Config> {
  const rows = allVariables(services);
  const dotenv = await readers.readSecret(DOTENV).catch(asError);
  const { texts, dotenvHasSecret, errors } = mergeDotenv(environment, dotenv, rows);
  const readFile = await readFilesFirst(texts, rows, readers);
  const read = readVariables(rows, texts, readFile);
  errors.push(...read.errors);
  const values: Values<Rows> = {
    ...read.values,
    ...fileSecrets(texts, rows, { readFile, readAgain: readers.readSecret }, errors),
  };
  const given = { isSet: (name: string) => texts.has(name) || texts.has(fileVariable(name)), values };
  errors.push(...serviceErrors(services, given), ...sectionsOf(services).flatMap((section) => section.errors(given)));
  errors.push(...certificateErrors(texts, readFile));
  const proxy = proxies(texts, errors);
  const unknown = unknownVariables(texts, rows, services);
  errors.push(...unknown.errors);
  if (errors.length > 0) throw new ConfigError(inTableOrder(errors, rows));
  const polled = services.map((service) => ({ api: service.api, ...service.toSettings(values) }));
  const [common, remoteWrite] = [commonSection.toSettings(values), remoteWriteSection.toSettings(values)];
  const settingsOf = new Map(polled.map(({ api, settings }) => [api, settings]));
  if (remoteWrite.settings !== undefined) requireHistory(services, settingsOf);
  return {
    ...common.settings,
    remoteWrite: remoteWrite.settings,
    services: settingsOf,
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

/** Reads every file that a variable names before any is parsed, so that a disk that hangs does not block the event loop. */
async function readFilesFirst(
  texts: VariableTexts,
  rows: readonly NamedVariable[],
  { readSecret, readPem }: FileReaders,
): Promise<ReadFile> {
  const contents = new Map<string, string | Error>();
  const readInto = async (path: string | undefined, read: ReadText) => {
    if (path !== undefined) contents.set(path, await read(path).catch(asError));
  };
  const reads = rows.map(({ name, row }) => {
    if (isSecret(row)) return readInto(texts.get(fileVariable(name)), readSecret);
    return row.format.valueIn === undefined ? undefined : readInto(texts.get(name), readPem);
  });
  await Promise.all([...reads, readInto(texts.get(EXTRA_CERTIFICATES), readPem)]);
  return (path) => {
    const content = contents.get(path);
    if (typeof content !== 'string') throw content;
    return content;
  };
}

const EXTRA_CERTIFICATES = 'NODE_EXTRA_CA_CERTS';

/** Node itself only prints a warning about a file of certificate authorities that it cannot use. */
function certificateErrors(texts: VariableTexts, readFile: ReadFile): readonly string[] {
  const path = texts.get(EXTRA_CERTIFICATES);
  if (path === undefined) return [];
  const expected = 'expected the path of a PEM file with certificates of authorities';
  try {
    if (readFile(path).includes('-----BEGIN CERTIFICATE-----')) return [];
    return [`${EXTRA_CERTIFICATES}: ${quotedPath(path)} contains no certificate in PEM; ${expected}`];
  } catch (error) {
    const reason = errorCode(error) ?? 'unknown reason';
    return [`${EXTRA_CERTIFICATES}: ${quotedPath(path)} cannot be read (${reason}); ${expected}`];
  }
}

/** Remote write needs a service that keeps a history. */
function requireHistory(services: readonly ServiceSection[], settingsOf: ReadonlyMap<string, unknown>): void {
  const needs: string[] = [];
  for (const { api, history } of services) {
    if (history === undefined) continue;
    const settings = settingsOf.get(api);
    if (settings !== undefined && settings !== null && history.isKept(settings)) return;
    needs.push(history.needs);
  }
  throw new ConfigError([
    `REMOTE_WRITE_URL: is set, but nothing that is polled has a history; expected ${needs.join(' or ')}`,
  ]);
}

/** The files that variables name and that contain a secret, each once. */
function secretPaths(values: Values<Rows>): readonly string[] {
  const paths = new Set<string>();
  for (const value of Object.values(values)) {
    if (value instanceof FileSecret || (value instanceof PemFile && value.hasKey)) paths.add(value.path);
  }
  return [...paths];
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

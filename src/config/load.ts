import { ConfigError } from '../runtime/errors.ts';
import { PROBE_PATHS } from './addresses.ts';
import type { Config, GfaConfig, PortalConfig, PortalCredentials, ProxyConfig } from './config.ts';
import {
  type Fault,
  type ReadAgain,
  type ReadFile,
  settledTexts,
  type Texts,
  unknownVariables,
} from './environment.ts';
import type { Vocabulary } from './kind.ts';
import { proxies } from './proxy.ts';
import { chosenAuth, ruleFaults } from './rules.ts';
import { fileSecrets } from './secrets.ts';
import { kindFaults } from './validate.ts';
import { rows, USUAL_COLLECTORS, type Values } from './variables.ts';

/** What the configuration is made of, all of it handed in. */
export interface Surroundings {
  /** The process's environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A file's whole text; throws an error with a `code` when it cannot be read. */
  readonly readFile: ReadFile;
  /** The same, to read secrets again; `readFile` where it is left out. */
  readonly readAgain?: ReadAgain;
  /** The names of series and collectors that the catalogue has. */
  readonly vocabulary: Vocabulary;
}

/** The settled configuration. Throws a ConfigError with every fault at once, in the order of the variables. */
export function loadConfig({ environment, readFile, readAgain, vocabulary }: Surroundings): Config {
  const { texts, faults: environmentFaults, dotenvHasSecret } = settledTexts(environment, readFile);
  const { secrets, faults: secretFaults } = fileSecrets(texts, readFile, readAgain ?? (async (path) => readFile(path)));
  const { proxy, faults: proxyFaults } = proxies(texts);
  const values: Partial<Values> = { ...valuesOf(texts, vocabulary), ...Object.fromEntries(secrets) };
  const faults = inTableOrder([
    ...environmentFaults,
    ...kindFaults(texts, vocabulary),
    ...secretFaults,
    ...ruleFaults(texts, values),
    ...proxyFaults,
    ...unknownVariables(texts),
  ]);
  if (faults.length > 0) throw new ConfigError(faults.map(({ line }) => line));
  // Without a fault every row with a default has its value, which is all that Values adds to Partial<Values>.
  return {
    ...settled(values as Values, proxy, vocabulary),
    ownFiles: [
      ...[...new Set([...secrets.values()].map(({ path }) => path))].map((path) => ({ path, isSecret: true })),
      // It says where tokens are sent, so nobody else is to change it, with a secret in it or without.
      ...(dotenvHasSecret === undefined ? [] : [{ path: '.env', isSecret: dotenvHasSecret }]),
    ],
  };
}

/** What the texts and the defaults mean. A text that means nothing is left out; {@link kindFaults} has the line about it. */
function valuesOf(texts: Texts, vocabulary: Vocabulary): Partial<Values> {
  return Object.fromEntries(
    rows.flatMap(({ name, row }) => {
      const text = texts.get(name) ?? row.default;
      if (text === undefined) return [];
      const parsed = row.kind.parse(text, vocabulary);
      return parsed.state === 'good' ? [[name, parsed.value]] : [];
    }),
  );
}

/** What has no row comes last, in the order given. */
function inTableOrder(faults: readonly Fault[]): readonly Fault[] {
  const place = ({ variable }: Fault) => {
    const index = rows.findIndex(({ name }) => name === variable);
    return index === -1 ? rows.length : index;
  };
  return faults.toSorted((one, other) => place(one) - place(other));
}

function settled(values: Values, proxy: ProxyConfig | undefined, vocabulary: Vocabulary): Omit<Config, 'ownFiles'> {
  return {
    gfa: settledGfa(values),
    portal: settledPortal(values, vocabulary),
    requests: {
      timeoutMs: values.REQUEST_TIMEOUT,
      maxResponseBytes: values.MAX_RESPONSE_BYTES,
      concurrency: values.PORTAL_CONCURRENCY,
      allowInsecure: values.ALLOW_INSECURE_UPSTREAM,
      proxy,
    },
    staleAfter: values.STALE_AFTER,
    events: { bucketsSeconds: values.EVENT_BUCKETS, histograms: values.EVENT_HISTOGRAMS },
    filerAliases: values.FILER_ALIASES ?? [],
    stateFile: values.STATE_FILE,
    shard: { index: values.SHARD, total: values.TOTAL_SHARDS },
    web: {
      ...values.LISTEN_ADDRESS,
      metricsPath: values.METRICS_PATH,
      maxScrapes: values.MAX_SCRAPES,
      maxConnections: values.MAX_CONNECTIONS,
      configFile: values.WEB_CONFIG_FILE,
      openPaths: { paths: values.WEB_OPEN_PATHS ?? PROBE_PATHS, named: values.WEB_OPEN_PATHS !== undefined },
    },
    shutdownTimeoutMs: values.SHUTDOWN_TIMEOUT,
    log: { level: values.LOG_LEVEL, format: values.LOG_FORMAT ?? 'auto' },
  };
}

function settledGfa(values: Values): GfaConfig | undefined {
  // The rules have seen to it that the token is there when the URL is; so with the credentials below.
  if (values.GFA_URL === undefined || values.GFA_TOKEN === undefined) return undefined;
  return {
    url: values.GFA_URL,
    token: values.GFA_TOKEN,
    clientKey: values.GFA_CLIENT_KEY,
    clientKeyHeader: values.GFA_CLIENT_KEY_HEADER,
    intervalMs: values.GFA_INTERVAL,
    groups: values.GFA_METRICS,
  };
}

function settledPortal(values: Values, vocabulary: Vocabulary): PortalConfig | undefined {
  const credentials = settledCredentials(values);
  if (values.PORTAL_URL === undefined || credentials === undefined) return undefined;
  const { collectors } = vocabulary;
  const seriesByMode = seriesOf(values, vocabulary);
  const chosen = values.PORTAL_COLLECTORS ?? USUAL_COLLECTORS.map((name) => ({ name, intervalMs: undefined }));
  const settledCollectors = collectors.flatMap(({ name, intervalMs }) => {
    const choice = chosen.find((one) => one.name === name);
    return choice === undefined
      ? []
      : [{ name, intervalMs: choice.intervalMs ?? intervalMs ?? values.PORTAL_INTERVAL }];
  });
  return {
    url: values.PORTAL_URL,
    credentials,
    intervalMs: values.PORTAL_INTERVAL,
    mode: values.PORTAL_MODE,
    fullIntervalMs: values.PORTAL_FULL_INTERVAL,
    discoveryIntervalMs: values.PORTAL_DISCOVERY_INTERVAL,
    serials: values.PORTAL_SERIALS,
    ...(settledCollectors.some(({ name }) => name === 'telemetry')
      ? { series: seriesByMode[values.PORTAL_MODE], seriesByMode }
      : { series: [], seriesByMode: { full: [], economy: [] } }),
    lookbackMs: values.PORTAL_LOOKBACK,
    binSizeSeconds: values.PORTAL_BIN_SIZE,
    rateLimit: values.PORTAL_RATE_LIMIT,
    dailyLimit: values.PORTAL_DAILY_LIMIT === 0 ? undefined : values.PORTAL_DAILY_LIMIT,
    collectors: settledCollectors,
  };
}

/** The series as either mode has them; an interval that the operator has given one holds in both. */
function seriesOf(values: Values, { standardSeries, costlySeries, economy }: Vocabulary): PortalConfig['seriesByMode'] {
  const chosen = values.PORTAL_SERIES ?? standardSeries.map((name) => ({ name, intervalMs: undefined }));
  const every = (usualMs: number) =>
    chosen.map(({ name, intervalMs }) => ({
      name,
      intervalMs: intervalMs ?? Math.max(costlySeries[name] ?? 0, usualMs),
    }));
  const often = chosen.find(({ name }) => name === economy.series)?.intervalMs ?? values.PORTAL_INTERVAL;
  const seldom = every(values.PORTAL_FULL_INTERVAL).filter(
    ({ name }) => name !== economy.series && !economy.replaces.includes(name),
  );
  return {
    full: every(values.PORTAL_INTERVAL),
    economy: [{ name: economy.series, intervalMs: often }, ...seldom],
  };
}

function settledCredentials(values: Values): PortalCredentials | undefined {
  const { PORTAL_SERVICE_KEY: key, PORTAL_SERVICE_SECRET: secret, PORTAL_USER_KEY: userKey } = values;
  const kind = chosenAuth(values.PORTAL_AUTH, key !== undefined);
  if (kind === 'user_key') return userKey === undefined ? undefined : { kind, key: userKey };
  return key === undefined || secret === undefined ? undefined : { kind, key, secret };
}

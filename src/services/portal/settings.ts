import {
  fileVariable,
  type ServiceSection,
  type SetVariables,
  serviceSection,
  type Values,
} from '../../config/table.ts';
import { EXPENSIVE_SERIES, STANDARD_SERIES } from './appliances/series-operations.ts';
import { collectorDefinitions } from './collectors.ts';
import type { CollectorDefinition } from './context.ts';
import type { NamedInterval } from './selection.ts';
import type { Credentials } from './token-requests.ts';
import { DEFAULT_COLLECTORS, portalVariables } from './variables.ts';

export type PortalSettings = Readonly<NonNullable<ReturnType<typeof toPortalSettings>>>;

type PortalRows = typeof portalVariables;
type PortalValues = Values<PortalRows>;

export const portalSection: ServiceSection<PortalSettings> = serviceSection<PortalRows, PortalSettings>({
  api: 'portal',
  url: 'PORTAL_URL',
  variables: portalVariables,
  errors: (given) => [...credentialErrors(given), ...binErrors(given), ...historyErrors(given)],
  toSettings: toPortalSettings,
});

function authKind(
  configuredAuth: PortalValues['PORTAL_AUTH'],
  hasServiceKey: boolean,
): NonNullable<PortalValues['PORTAL_AUTH']> {
  return configuredAuth ?? (hasServiceKey ? 'oauth2' : 'user_key');
}

function credentialErrors({
  isSet,
  values: { PORTAL_AUTH: configuredAuth },
}: SetVariables<PortalRows>): readonly string[] {
  // PORTAL_AUTH is invalid, and its own error line is enough.
  if (!isSet('PORTAL_URL') || (configuredAuth === undefined && isSet('PORTAL_AUTH'))) return [];
  const hasPair = isSet('PORTAL_SERVICE_KEY') || isSet('PORTAL_SERVICE_SECRET');
  const hasUserKey = isSet('PORTAL_USER_KEY');
  if (configuredAuth === undefined && !hasPair && !hasUserKey) {
    const wanted = 'PORTAL_SERVICE_KEY and PORTAL_SERVICE_SECRET, or PORTAL_USER_KEY';
    return [`PORTAL_URL: is set without credentials; set ${wanted}`];
  }
  if (configuredAuth === undefined && hasPair && hasUserKey) {
    const choices = 'set it to oauth2, service_key or user_key';
    return [`PORTAL_AUTH: is not set, but a service key and a user key are both set; ${choices}`];
  }
  const auth = authKind(configuredAuth, hasPair);
  const reason = configuredAuth === undefined ? 'the other half of the pair needs it' : `PORTAL_AUTH=${auth} needs it`;
  const needed = auth === 'user_key' ? USER_KEY : SERVICE_KEY_PAIR;
  return needed
    .filter((name) => !isSet(name))
    .map((name) => `${name}: is not set; ${reason}: set ${name} or ${fileVariable(name)}`);
}

const USER_KEY = ['PORTAL_USER_KEY'] as const;
const SERVICE_KEY_PAIR = ['PORTAL_SERVICE_KEY', 'PORTAL_SERVICE_SECRET'] as const;

function binErrors({ values }: SetVariables<PortalRows>): readonly string[] {
  const { PORTAL_LOOKBACK: periodMs, PORTAL_BIN_SIZE: binMs } = values;
  if (periodMs === undefined || binMs === undefined || periodMs >= binMs) return [];
  return ['PORTAL_LOOKBACK: is below PORTAL_BIN_SIZE; expected at least one whole bin'];
}

/** Remote write sends the records of series, and no other service has a history. */
function historyErrors({ isSet, values }: SetVariables<PortalRows>): readonly string[] {
  const collectors = values.PORTAL_COLLECTORS ?? [{ name: 'telemetry' }];
  const hasHistory = isSet('PORTAL_URL') && collectors.some(({ name }) => name === 'telemetry');
  if (!isSet('REMOTE_WRITE_URL') || hasHistory) return [];
  const expected = 'expected PORTAL_URL, and telemetry in PORTAL_COLLECTORS';
  return [`REMOTE_WRITE_URL: is set, but nothing that is polled has a history; ${expected}`];
}

function toPortalSettings(values: PortalValues) {
  const { PORTAL_URL: url, PORTAL_INTERVAL: intervalMs } = values;
  const credentials = toCredentials(values);
  if (url === undefined || credentials === undefined) return undefined;
  const chosen = values.PORTAL_COLLECTORS ?? DEFAULT_COLLECTORS.map((name) => ({ name, intervalMs: undefined }));
  const collectors: readonly CollectorDefinition[] = collectorDefinitions.flatMap((definition) => {
    const choice = chosen.find(({ name }) => name === definition.name);
    return choice === undefined ? [] : [{ ...definition, intervalMs: choice.intervalMs ?? definition.intervalMs }];
  });
  const hasSeries = chosen.some(({ name }) => name === 'telemetry');
  return {
    url,
    credentials,
    intervalMs,
    discoveryIntervalMs: values.PORTAL_DISCOVERY_INTERVAL,
    /** The serials of the appliances to poll, in lower case, each once; undefined if the whole inventory is polled. */
    serials: values.PORTAL_SERIALS,
    /** In the catalogue's order; empty only if the collector `telemetry` is off. */
    series: hasSeries ? seriesOf(values) : [],
    concurrency: values.PORTAL_CONCURRENCY,
    lookbackMs: values.PORTAL_LOOKBACK,
    binSeconds: Math.round(values.PORTAL_BIN_SIZE / 1000),
    /** The units that the account uses instead of the documented ones. */
    units: (values.PORTAL_UNITS ?? []).filter((unit) => unit !== 'documented'),
    rateLimit: values.PORTAL_RATE_LIMIT,
    dailyLimit: values.PORTAL_DAILY_LIMIT === 0 ? undefined : values.PORTAL_DAILY_LIMIT,
    /** The enabled collectors beside `telemetry`, in the catalogue's order, each with its interval. */
    collectors,
  };
}

function seriesOf(values: PortalValues): readonly NamedInterval[] {
  const chosen = values.PORTAL_SERIES ?? STANDARD_SERIES.map((name) => ({ name, intervalMs: undefined }));
  return chosen.map(({ name, intervalMs }) => ({
    name,
    intervalMs: intervalMs ?? Math.max(EXPENSIVE_SERIES[name] ?? 0, values.PORTAL_INTERVAL),
  }));
}

function toCredentials(values: PortalValues): Credentials | undefined {
  const { PORTAL_SERVICE_KEY: key, PORTAL_SERVICE_SECRET: secret, PORTAL_USER_KEY: userKey } = values;
  const kind = authKind(values.PORTAL_AUTH, key !== undefined);
  if (kind === 'user_key') return userKey === undefined ? undefined : { kind, key: userKey };
  return key === undefined || secret === undefined ? undefined : { kind, key, secret };
}

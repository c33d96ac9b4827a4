import { baseUrl, HEADER_NAME, RESERVED_HEADERS } from './addresses.ts';
import { entriesOf, type Format, headerError, invalid, quoted, valid } from './format.ts';
import { duration, headerValue, listOf, secret, within } from './formats.ts';
import { type Rows, type SetVariables, section, type Values } from './table.ts';

/** The name and the value of a label, as an entry of a list. */
const label: Format<readonly [string, string]> = {
  label: 'name=value',
  expects: 'label names and values, such as job=filer-exporter,instance=filer-exporter:9989',
  parse: (text) => {
    const [, name = '', value = ''] = /^([a-zA-Z_][a-zA-Z0-9_]*)=(.*)$/su.exec(text) ?? [];
    return name === '' || name.startsWith('__') ? invalid(`${quoted(text)} has no label name`) : valid([name, value]);
  },
};

const variables = {
  REMOTE_WRITE_URL: {
    format: baseUrl('', true),
    unset: 'nothing is sent',
    help: 'sends every point there once, in order, with its original time',
  },
  REMOTE_WRITE_TOKEN: { format: secret, help: 'sent as `Authorization: Bearer`' },
  REMOTE_WRITE_USER: { format: headerValue, help: 'user name for basic auth' },
  REMOTE_WRITE_PASSWORD: { format: secret, help: 'password for basic auth' },
  REMOTE_WRITE_HEADERS: {
    format: secret,
    help: 'additional headers, such as `X-Scope-OrgID=tenant,X-Other=value`',
  },
  REMOTE_WRITE_LABELS: {
    format: listOf(label),
    unset: 'every series has `job=filer-exporter-minutes`',
    help: 'labels added to every series; a `job` among them must differ from that of the scrape',
  },
  REMOTE_WRITE_CATCH_UP: {
    format: within(duration, '15m', '30d'),
    unset: '`6h`',
    help: 'how far back missing points are requested after an outage; if set, also at a first start',
  },
} as const satisfies Rows;

const DEFAULT_CATCH_UP_MS = 6 * 3_600_000;

type RemoteRows = typeof variables;

export const remoteWriteSection = section({
  url: 'REMOTE_WRITE_URL',
  variables,
  errors,
  toSettings,
});

function errors({ isSet, values }: SetVariables<RemoteRows>): readonly string[] {
  const found: string[] = [];
  if (isSet('REMOTE_WRITE_TOKEN') && (isSet('REMOTE_WRITE_USER') || isSet('REMOTE_WRITE_PASSWORD'))) {
    found.push('REMOTE_WRITE_TOKEN: is set and so is basic auth; expected one of them');
  }
  if (isSet('REMOTE_WRITE_USER') !== isSet('REMOTE_WRITE_PASSWORD')) {
    found.push('REMOTE_WRITE_PASSWORD: is set without REMOTE_WRITE_USER; expected both or neither');
  }
  if (values.REMOTE_WRITE_HEADERS !== undefined) found.push(...headerErrors(values.REMOTE_WRITE_HEADERS.reveal()));
  return found;
}

function headerErrors(text: string): readonly string[] {
  const headers = headerPairs(text);
  if (headers === undefined) {
    return ['REMOTE_WRITE_HEADERS: contains no headers; expected Name=value, separated by commas'];
  }
  const reserved = RESERVED_HEADERS.filter((name) => Object.hasOwn(headers, name.toLowerCase()));
  return reserved.map(
    (name) => `REMOTE_WRITE_HEADERS: contains ${name}, which the exporter sets; expected other headers`,
  );
}

/** Parses `Name=value,Other=value` as headers; returns undefined for other text. */
export function headerPairs(text: string): Readonly<Record<string, string>> | undefined {
  const headers: Record<string, string> = {};
  for (const entry of entriesOf(text)) {
    const at = entry.indexOf('=');
    const [name, value] = [entry.slice(0, Math.max(0, at)).trim(), entry.slice(at + 1).trim()];
    if (!HEADER_NAME.test(name) || headerError(value) !== undefined) return undefined;
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function toSettings(values: Values<RemoteRows>) {
  const { REMOTE_WRITE_URL: url, REMOTE_WRITE_USER: user, REMOTE_WRITE_PASSWORD: password } = values;
  if (url === undefined) return undefined;
  return {
    url,
    token: values.REMOTE_WRITE_TOKEN,
    basic: user === undefined || password === undefined ? undefined : { user, password },
    headers: values.REMOTE_WRITE_HEADERS,
    labels: { job: 'filer-exporter-minutes', ...Object.fromEntries(values.REMOTE_WRITE_LABELS ?? []) },
    catchUpMs: values.REMOTE_WRITE_CATCH_UP ?? DEFAULT_CATCH_UP_MS,
    hasCatchUp: values.REMOTE_WRITE_CATCH_UP !== undefined,
  } as const;
}

import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { variableRows } from '../../src/catalog.ts';
import { readValues, schemaOf } from '../../src/config/parse-variables.ts';
import { expectationOf, labelOf, type NamedVariable } from '../../src/config/schema.ts';
import { ADDITIONAL_SERIES, STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { portalCollectors } from '../../src/services/portal/variables.ts';
import { both, configOf, type Environment, errorsOf, type Files } from './surroundings.ts';

/** A text and what it means; the first two are different. */
type Good = readonly [text: string, value: unknown];

/** A text, what is wrong with it, and the word that was probably meant. */
type Bad = readonly [text: string, what: string, meant?: string];

interface Texts {
  readonly good: readonly Good[];
  readonly bad: readonly Bad[];
}

const UUID = '0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const OTHER_UUID = '1b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const SERIES = [...STANDARD_SERIES, ...ADDITIONAL_SERIES].filter((name) => name !== 'appliance_health_score');
const COLLECTORS = portalCollectors.map(({ name }) => name);

const selected = (names: readonly string[], intervalMs?: number) => names.map((name) => ({ name, intervalMs }));
const but = (names: readonly string[], ...left: readonly string[]) => names.filter((name) => !left.includes(name));

/** Each text is quoted before these words. */
const all = (what: string, ...texts: readonly string[]) =>
  texts.map((text): Bad => [text, `${JSON.stringify(text)} ${what}`]);

const unsendable = (shown: (text: string) => string): readonly Bad[] =>
  Object.entries({
    'canary\n': 'contains a line break',
    'canary\r\nX-Evil: 1': 'contains a line break',
    'canary\u0000': 'contains a control character',
    'canary\u00fc': 'contains a character outside ASCII',
    'canary ': 'begins or ends with a space',
  }).map(([text, flaw]) => [text, `${shown(text)} ${flaw}`]);

const urls = (ending: string, rejected = 'the value contains a query or fragment'): Texts => ({
  good: [
    [`https://api.example.com${ending}`, `https://api.example.com${ending}`],
    [`http://[::1]:8080/base${ending}/`, `http://[::1]:8080/base${ending}`],
    [`HTTPS://API.example.com${ending}//`, `https://api.example.com${ending}`],
  ],
  bad: [
    ...all('is not a URL', 'api.example.com/v1', 'https://a b/v1', 'https://a\n/v1'),
    ...all('is not an http or https URL', 'ftp://host/v1', 'http:host/v1'),
    ['https://me:canary@host/v1', 'the value contains a user name or password'],
    ['https://me:can/ary@host/v1', 'the value contains a user name or password'],
    ['https://host/v1?key=canary', rejected],
    ['https://host/v1#canary', rejected],
    ...(ending === '' ? [] : all(`does not end in ${ending}`, 'https://host', 'https://host/v1/data')),
  ],
});

/** Texts of every kind, by its label without bounds. A new variable of one of them needs no test of its own. */
const textsByKind: Readonly<Record<string, Texts>> = {
  URL: urls(''),
  'URL with or without a query': {
    ...urls('', 'the value contains credentials in its query, or a fragment'),
    good: [
      ['http://influxdb:8086/api/v1/prom/write?db=filers', 'http://influxdb:8086/api/v1/prom/write?db=filers'],
      ['https://api.example.com/write', 'https://api.example.com/write'],
    ],
  },
  'URL ending in /v1': urls('/v1'),
  secret: { good: [], bad: unsendable(() => 'the value') },
  text: {
    good: [
      ['rack 7', 'rack 7'],
      ['rack 8', 'rack 8'],
    ],
    bad: unsendable(JSON.stringify).slice(0, 1),
  },
  'header name': {
    good: [
      ['X-Other-client-key', 'X-Other-client-key'],
      ['Key', 'Key'],
    ],
    bad: [...all('is not a header name', 'X Key'), ...all('is already in use', 'Authorization')],
  },
  duration: {
    good: [
      ['1h', 3_600_000],
      ['20m', 1_200_000],
    ],
    bad: all('is not a duration', '5 minutes', '60', '-1s'),
  },
  'duration in whole seconds': {
    good: [
      ['1h', 3_600_000],
      ['20m', 1_200_000],
    ],
    bad: [...all('is not a duration', '60'), ...all('is not a whole number of seconds', '60s500ms')],
  },
  number: {
    good: [
      ['7', 7],
      ['8', 8],
    ],
    bad: all('is not a whole number', '1e3', '3.5', '-1', ' 4', 'many', '99999999999999999999'),
  },
  'number, or a name that ends in -number': {
    good: [
      ['7', 7],
      ['filer-exporter-0', 0],
      ['release-1-filer-exporter-7', 7],
    ],
    bad: all(
      'is not a number and does not end in one',
      ...['1e3', '3.5', '-1', ' 4', 'many', '99999999999999999999', 'filer-exporter-6f7b9-x2kqp', 'exporter7'],
    ),
  },
  'requests per duration': {
    good: [
      ['20/1s', { requests: 20, windowMs: 1000 }],
      ['1000/1h30m', { requests: 1000, windowMs: 5_400_000 }],
    ],
    bad: all('is not a rate', '500', '500/', '/30s', '0/30s', '500/0s', '500/30', '500 / 30s', '-5/30s'),
  },
  word: { good: [], bad: all('is not a known word', 'other', 'INFO') },
  'true or false': {
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: all('is neither', 'yes', '1'),
  },
  'list of words': { good: [], bad: [...all('is not a known word', 'other'), [' , ', 'is an empty list']] },
  'list of uuids': {
    good: [
      [`${UUID.toUpperCase()}, ${UUID}`, [UUID]],
      [OTHER_UUID, [OTHER_UUID]],
    ],
    bad: [[`${UUID},filer-7`, '"filer-7" is not a uuid']],
  },
  'list of series': {
    good: [
      ['cpu_utilization,load_average', selected(['load_average', 'cpu_utilization'])],
      ['all', selected(SERIES)],
      ['all,-smb_connections,-load_average', selected(but(SERIES, 'smb_connections', 'load_average'))],
      ['-cpu_utilization', selected(but(STANDARD_SERIES, 'cpu_utilization'))],
      ['-cpu_utilization,cpu_utilization', selected(['cpu_utilization'])],
      ['cpu_utilization=1m', selected(['cpu_utilization'], 60_000)],
      [
        'all=1h,-load_average,smb_connections = 2h',
        but(SERIES, 'load_average').flatMap((name) =>
          selected([name], name === 'smb_connections' ? 7_200_000 : 3_600_000),
        ),
      ],
    ],
    bad: [
      ['cpu_utilisation', '"cpu_utilisation" is not a series', 'cpu_utilization'],
      ['-smb_conections', '"smb_conections" is not a series', 'smb_connections'],
      ['al', '"al" is not a series', 'all'],
      ...all('needs a duration of at least 1s', 'cpu_utilization=1 min', 'cpu_utilization='),
      ...all('removes a series and cannot have an interval', '-cpu_utilization=1m'),
      ...all('selects no series', 'load_average,-load_average', ','),
    ],
  },
  'list of collectors': {
    good: [
      ['notifications,telemetry', selected(['telemetry', 'notifications'])],
      ['all', selected(COLLECTORS)],
      ['all,-volumes', selected(but(COLLECTORS, 'volumes'))],
      ['-volumes', selected(['telemetry', 'edges', 'license'])],
      ['all=1h,-telemetry', selected(but(COLLECTORS, 'telemetry'), 3_600_000)],
    ],
    bad: [
      ['volume', '"volume" is not a collector', 'volumes'],
      ...all('needs a duration of at least 1s', 'volumes=0'),
      ...all('removes a collector and cannot have an interval', '-volumes=1m'),
      [
        'telemetry=1m',
        '"telemetry=1m": telemetry has no interval of its own: set PORTAL_INTERVAL, or the interval of a series in PORTAL_SERIES',
      ],
      ...all('selects no collector', 'volumes,-volumes'),
    ],
  },
  'list of durations': {
    good: [
      ['500ms, 1.5,10,1m', [0.5, 1.5, 10, 60]],
      ['1', [1]],
    ],
    bad: [
      ['10s,soon', '"soon" is not a bucket'],
      ['0,10s', '"0" is not a bucket'],
      ...all('is not a bucket', '-1', 'Infinity'),
      ['10s,5s', 'is not in ascending order'],
      [',', 'is an empty list'],
    ],
  },
  'list of pairs': {
    good: [
      [`${UUID.toUpperCase()} = ${OTHER_UUID}`, [{ id: UUID, target: OTHER_UUID }]],
      [`${UUID}=Leeds = north,`, [{ id: UUID, target: 'Leeds = north' }]],
    ],
    bad: [
      [',', 'is an empty list'],
      ...all('does not begin with a uuid and an equals sign', 'leeds', 'leeds=north'),
      ...all('has nothing after the equals sign', `${UUID}=`),
      ...all('has the same id on both sides', `${UUID}=${UUID}`),
    ],
  },
  'path of a file with a certificate': { good: [], bad: [] },
  'path of a file with a private key': { good: [], bad: [] },
  'path of a file': {
    good: [
      ['state dir/state.json', 'state dir/state.json'],
      ['/etc/one', '/etc/one'],
    ],
    bad: [['a\u0000b', '"a\\u0000b" contains a control character']],
  },
  'host:port': {
    good: [
      [':0', { host: undefined, port: 0 }],
      ['localhost:9989', { host: 'localhost', port: 9989 }],
      ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
      ['[::1]:65535', { host: '::1', port: 65_535 }],
    ],
    bad: [
      ...all('is not a listen address', '9989', 'localhost', '::1:9989', 'http://host:1'),
      ...all('has a port above 65535', ':99999'),
      ...all('has no IPv6 address in the brackets', '[localhost]:1'),
      ...all('has an invalid IPv4 address', '300.1.1.1:1'),
    ],
  },
  path: {
    good: [
      ['/exporter/filers', '/exporter/filers'],
      ['/m', '/m'],
    ],
    bad: [
      ...all('does not start with /', 'metrics'),
      ...all('contains a query or fragment', '/metrics?x=1', '/metrics#x'),
      ...all('is not a plain path', '/a/../b', '//host/metrics', '/two words'),
      ...all('is used by another page', '/', '/healthz', '/readyz', '/status/', '/api/v1'),
    ],
  },
  'list of name=value': {
    good: [
      [
        'job=filer-exporter,instance=here:9989',
        [
          ['job', 'filer-exporter'],
          ['instance', 'here:9989'],
        ],
      ],
      ['job=other', [['job', 'other']]],
    ],
    bad: all('has no label name', 'job', '1a=b', '__name__=b'),
  },
};

/** The label of a row's kind without its bounds, and one word for all lists of words. */
function kindOf({ row }: NamedVariable): string {
  return row.enum === undefined ? labelOf(row).replace(/ (?:of at least|from) .*/, '') : 'word';
}

/** What a row's own bounds and words add to the texts of its kind. */
function textsOf(named: NamedVariable): Texts {
  const { row } = named;
  const label = labelOf(row);
  const of = textsByKind[kindOf(named)];
  if (of === undefined) throw new Error(`${named.name}: no texts for a ${label}; add some to textsByKind`);
  const isList = row.items !== undefined;
  const words = (row.enum ?? row.items?.enum ?? []).map((word): Good => [word, isList ? [word] : word]);
  const { formatMinimum: least, formatMaximum: most } = row;
  const outside = (bound: string, by: -1 | 1, what: string) => {
    const [, number = '', unit = ''] = /^(\d+)(\w*)$/.exec(bound) ?? [];
    const text = by < 0 && unit === 's' ? `${Number(number) * 1000 - 1}ms` : `${Number(number) + by}${unit}`;
    return Number.parseInt(text, 10) < 0 ? [] : all(`is ${what} ${bound}`, text);
  };
  return {
    good: [...of.good, ...words],
    bad: [
      ...of.bad,
      ...(least === undefined ? [] : outside(least, -1, 'below')),
      ...(most === undefined ? [] : outside(most, 1, 'above')),
    ],
  };
}

/** Every variable with the texts of its kind. */
const everyVariable = variableRows.map((row) => ({ ...row, ...textsOf(row) }));

const receiver = { REMOTE_WRITE_URL: 'http://127.0.0.1:9090/api/v1/write' };
const pair = { PORTAL_USER_KEY: undefined, PORTAL_SERVICE_KEY: 'key', PORTAL_SERVICE_SECRET: 'secret' };

/** What else has to be set, where combinations matter. */
const besides: Readonly<Record<string, Environment>> = {
  PORTAL_SERVICE_KEY: pair,
  PORTAL_SERVICE_SECRET: pair,
  PORTAL_AUTH: { ...pair, PORTAL_USER_KEY: 'user' },
  PORTAL_BIN_SIZE: { PORTAL_LOOKBACK: '2h' },
  PORTAL_FULL_INTERVAL: { PORTAL_MODE: 'economy' },
  SHARD: { TOTAL_SHARDS: '9' },
  REMOTE_WRITE_USER: { REMOTE_WRITE_PASSWORD: 'canary' },
  REMOTE_WRITE_PASSWORD: { REMOTE_WRITE_USER: 'writer' },
  REMOTE_WRITE_CERT_FILE: { REMOTE_WRITE_KEY_FILE: '/all.pem' },
  REMOTE_WRITE_KEY_FILE: { REMOTE_WRITE_CERT_FILE: '/all.pem' },
};

const block = (of: string) => `# one\n-----BEGIN ${of}-----\n`;
const PEMS = ['/all.pem', '/more.pem'];
const ALL = block('TRUSTED CERTIFICATE') + block('EC PRIVATE KEY');
const files: Files = {
  ...Object.fromEntries(PEMS.map((path) => [path, ALL])),
  '/other.pem': block('PUBLIC KEY'),
  '/empty.pem': '',
};

describe.each(everyVariable)('$name', ({ name, row, good, bad }) => {
  const beside: Environment = { ...both, ...(name.startsWith('REMOTE_') ? receiver : {}), ...besides[name] };
  const faultsWith = (text: string) => errorsOf({ ...beside, [name]: text }, files);

  test.each(row.format?.valueIn === undefined ? good : [])('%j is understood', (text, value) => {
    const only = { rows: [{ name, row }], schema: schemaOf({ [name]: row }) };
    expect(readValues(only, new Map([[name, text]]), String).values[name]).toEqual(value);
    expect(faultsWith(text).filter((line) => line.startsWith(`${name}:`) && line.includes('expected '))).toEqual([]);
  });

  const rejected = bad.map(([text, what, meant]) => ({ text, what, meant }));
  test.each(rejected)('$text is rejected in one line', ({ text, what, meant }) => {
    const hint = meant === undefined ? `expected ${expectationOf(row)}` : `did you mean ${meant}?`;
    expect(faultsWith(text)).toEqual([`${name}: ${what}; ${hint}`]);
  });

  test('takes effect', () => {
    const [one = 'a=canary', other = 'b=canary'] =
      row.format?.valueIn === undefined ? good.map(([text]) => text) : PEMS;
    const settingsWith = (text: string) => {
      const { shown, ownFiles, secrets, remoteWrite, ...settings } = configOf({ ...beside, [name]: text }, files);
      const paths = Object.values(remoteWrite?.tls ?? {}).map(String);
      return { ...settings, remoteWrite: { ...remoteWrite, tls: paths }, secret: secrets.get(name)?.reveal() };
    };
    expect(isDeepStrictEqual(settingsWith(one), settingsWith(other))).toBe(false);
  });

  test('an empty text is as if it were not set', () => {
    expect(faultsWith('')).toEqual(errorsOf({ ...beside, [name]: undefined }, files));
  });
});

test('every kind has texts that some variable needs', () => {
  expect(new Set(everyVariable.map(kindOf))).toEqual(new Set(Object.keys(textsByKind)));
});

test.each(everyVariable.filter(({ row }) => row.format?.valueIn !== undefined))(
  '$name is the path of a PEM file with its block',
  ({ name }) => {
    const what = name.includes('KEY') ? 'private key' : 'certificate';
    const faultsWith = (path: string) => errorsOf({ ...both, ...receiver, ...besides[name], [name]: path }, files);
    const line = (path: string, flaw: string) => [`${name}: "${path}" ${flaw}; expected the path of a PEM file`];
    expect(faultsWith('/all.pem')).toEqual([]);
    expect(faultsWith('/nowhere.pem')).toEqual(line('/nowhere.pem', 'cannot be read (ENOENT)'));
    for (const path of ['/other.pem', '/empty.pem'])
      expect(faultsWith(path)).toEqual(line(path, `contains no ${what}`));
  },
);

test('[reserved-headers] remote write takes headers as names and values', () => {
  const faultsWith = (text: string) => errorsOf({ ...both, ...receiver, REMOTE_WRITE_HEADERS: text });
  expect(faultsWith('X-Scope-OrgID=one, X-Other=a=b')).toEqual([]);
  expect(faultsWith('canary')).toEqual([
    'REMOTE_WRITE_HEADERS: contains no headers; expected Name=value, separated by commas',
  ]);
  const reserved = 'Host User-Agent Content-Length Transfer-Encoding Connection Keep-Alive Upgrade Expect'.split(' ');
  for (const name of reserved) {
    expect(faultsWith(`X-Other=a,${name.toLowerCase()}=5`)).toEqual([
      `REMOTE_WRITE_HEADERS: contains ${name}, which the exporter sets; expected other headers`,
    ]);
  }
});

test('bins are whole seconds, and a daily limit of 0 is none', () => {
  expect(errorsOf({ ...both, PORTAL_BIN_SIZE: '60s500ms' })).toHaveLength(1);
  expect(configOf({ ...both, PORTAL_BIN_SIZE: '15m' }).portal?.binSeconds).toBe(900);
  expect(configOf({ ...both, PORTAL_DAILY_LIMIT: '0' }).portal?.dailyLimit).toBeUndefined();
});

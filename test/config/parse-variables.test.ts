import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { readValues, schemaOf } from '../../src/config/parse-variables.ts';
import { expectationOf } from '../../src/config/schema.ts';
import { everyVariable, kindOf, textsByKind } from './kinds.ts';
import { both, configOf, type Environment, type Files, faultsOf } from './surroundings.ts';

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
  const faultsWith = (text: string) => faultsOf({ ...beside, [name]: text }, files);

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
    expect(faultsWith('')).toEqual(faultsOf({ ...beside, [name]: undefined }, files));
  });
});

test('every kind has texts that some variable needs', () => {
  expect(new Set(everyVariable.map(kindOf))).toEqual(new Set(Object.keys(textsByKind)));
});

test.each(everyVariable.filter(({ row }) => row.format?.valueIn !== undefined))(
  '$name is the path of a PEM file with its block',
  ({ name }) => {
    const what = name.includes('KEY') ? 'private key' : 'certificate';
    const faultsWith = (path: string) => faultsOf({ ...both, ...receiver, ...besides[name], [name]: path }, files);
    const line = (path: string, flaw: string) => [`${name}: "${path}" ${flaw}; expected the path of a PEM file`];
    expect(faultsWith('/all.pem')).toEqual([]);
    expect(faultsWith('/nowhere.pem')).toEqual(line('/nowhere.pem', 'cannot be read (ENOENT)'));
    for (const path of ['/other.pem', '/empty.pem'])
      expect(faultsWith(path)).toEqual(line(path, `contains no ${what}`));
  },
);

test('remote write takes headers as names and values', () => {
  const faultsWith = (text: string) => faultsOf({ ...both, ...receiver, REMOTE_WRITE_HEADERS: text });
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
  expect(faultsOf({ ...both, PORTAL_BIN_SIZE: '60s500ms' })).toHaveLength(1);
  expect(configOf({ ...both, PORTAL_BIN_SIZE: '15m' }).portal?.binSeconds).toBe(900);
  expect(configOf({ ...both, PORTAL_DAILY_LIMIT: '0' }).portal?.dailyLimit).toBeUndefined();
});

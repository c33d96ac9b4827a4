import { expect, test } from 'vitest';
import { variableRows } from '../../../src/catalog.ts';
import { baseUrl, headerName, listenAddress, metricsPath } from '../../../src/config/addresses.ts';
import { formatDuration, parseDuration } from '../../../src/config/duration.ts';
import type { Format } from '../../../src/config/format.ts';
import {
  aliases,
  boolean,
  buckets,
  duration,
  filePath,
  headerValue,
  listOf,
  oneOf,
  rateLimit,
  secret,
  uuid,
  wholeNumber,
  within,
} from '../../../src/config/formats.ts';
import { both, errorsOf } from '../../harness/load-config.ts';

const ID = '0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const OTHER = '1b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';

/** A text and its value. */
const understood: readonly (readonly [Format<unknown>, string, unknown])[] = [
  [boolean, 'true', true],
  [oneOf(['one', 'two']), 'two', 'two'],
  [listOf(oneOf(['one', 'two'])), ' two, one,two,', ['two', 'one']],
  [duration, '1h30m', 5_400_000],
  [within(duration, '1s', '1d'), '1d', 86_400_000],
  [within(wholeNumber, '2'), '2', 2],
  [wholeNumber, '0', 0],
  [rateLimit, '1/1ms', { requests: 1, windowMs: 1 }],
  [rateLimit, '1000/1h30m', { requests: 1000, windowMs: 5_400_000 }],
  [headerValue, 'rack 7', 'rack 7'],
  [headerName, 'X-Other-client-key', 'X-Other-client-key'],
  [filePath, 'state dir/state.json', 'state dir/state.json'],
  [listOf(uuid), `${ID.toUpperCase()}, ${ID}`, [ID]],
  [buckets, '1ms, 1.5,10,1m', [0.001, 1.5, 10, 60]],
  [aliases, `${ID.toUpperCase()} = ${OTHER}`, [{ id: ID, target: OTHER }]],
  [aliases, `${ID}=Leeds = north,`, [{ id: ID, target: 'Leeds = north' }]],
  [baseUrl('/v1'), 'HTTPS://API.example.com/v1//', 'https://api.example.com/v1'],
  [baseUrl(''), 'http://[::1]:8080/base/', 'http://[::1]:8080/base'],
  [baseUrl('', true), 'http://influxdb:8086/write?db=filers', 'http://influxdb:8086/write?db=filers'],
  [listenAddress, ':0', { host: undefined, port: 0 }],
  [listenAddress, '[::1]:65535', { host: '::1', port: 65_535 }],
  [metricsPath, '/exporter/filers', '/exporter/filers'],
];

test.each(understood)('%#: a text of its format is understood', (format, text, value) => {
  expect(format.parse(text)).toEqual({ state: 'valid', value });
});

/** A text and what is wrong with it. */
const rejected: readonly (readonly [Format<unknown>, string, string])[] = [
  [boolean, 'yes', '"yes" is neither'],
  [oneOf(['one', 'two']), 'INFO', '"INFO" is not a known word'],
  [listOf(oneOf(['one'])), ' , ', 'is an empty list'],
  [duration, '5 minutes', '"5 minutes" is not a duration'],
  ...['60', '1m1h', '9223372036855ms'].map((text) => [duration, text, `"${text}" is not a duration`] as const),
  [within(duration, '1s', '1d'), '999ms', '"999ms" is below 1s'],
  [within(duration, '1s', '1d'), '2d', '"2d" is above 1d'],
  [within(wholeNumber, '2'), '1', '"1" is below 2'],
  ...['1e3', '3.5', '-1', ' 4', '99999999999999999999'].map(
    (text) => [wholeNumber, text, `${JSON.stringify(text)} is not a whole number`] as const,
  ),
  ...['500', '/30s', '0/30s', '500/0s', '500 / 30s'].map(
    (text) => [rateLimit, text, `"${text}" is not a rate`] as const,
  ),
  [headerValue, 'a\r\nX-Evil: 1', '"a\\r\\nX-Evil: 1" contains a line break'],
  [headerName, 'X Key', '"X Key" is not a header name'],
  [headerName, 'Authorization', '"Authorization" is already in use'],
  [filePath, 'a\u0000b', '"a\\u0000b" contains a control character'],
  [listOf(uuid), `${ID},filer-7`, '"filer-7" is not a uuid'],
  [buckets, '0,10s', '"0" is not a bucket'],
  [buckets, '10s,5s', 'is not in ascending order'],
  [aliases, 'leeds=north', '"leeds=north" does not begin with a uuid and an equals sign'],
  [aliases, `${ID}=${ID}`, 'the value has the same id on both sides'],
  [aliases, `${ID}=a,${ID}=b`, `"${ID}" is listed twice`],
  [aliases, `${ID}=`, 'the value has nothing after the equals sign'],
  [baseUrl('/v1'), 'api.example.com', '"api.example.com" is not a URL'],
  [baseUrl('/v1'), 'http:host/v1', '"http:host/v1" is not an http or https URL'],
  [baseUrl('/v1'), 'https://host/v1/data', '"https://host/v1/data" does not end in /v1'],
  [baseUrl(''), 'https://me:canary@host', 'the value contains a user name or password'],
  [baseUrl(''), 'https://host?key=canary', 'the value contains a query or fragment'],
  [baseUrl('', true), 'https://host?api_key=canary', 'the value contains credentials in its query, or a fragment'],
  [listenAddress, '9989', '"9989" is not a listen address'],
  [listenAddress, ':65536', '":65536" has a port above 65535'],
  [listenAddress, '300.1.1.1:1', '"300.1.1.1:1" has an invalid IPv4 address'],
  [listenAddress, '[1.2.3.4]:1', '"[1.2.3.4]:1" has no IPv6 address in the brackets'],
  [metricsPath, '/a?b', '"/a?b" contains a query or fragment'],
  [metricsPath, 'metrics', '"metrics" does not start with /'],
  [metricsPath, '/a/../b', '"/a/../b" is not a plain path'],
  [metricsPath, '/status/', '"/status/" is used by another page'],
  // A secret is never quoted.
  [secret, 'canary\n', 'the value contains a line break'],
  [secret, 'canary\u00fc', 'the value contains a character outside ASCII'],
  [secret, ' canary', 'the value begins or ends with a space'],
  [secret, '', 'the value is empty'],
  [secret, '"canary"', 'the value is in quotes'],
  [secret, 'x'.repeat(8_193), 'the value is longer than 8 KiB'],
];

test.each(rejected)('%#: a text that is no value of its format is rejected', (format, text, what) => {
  expect(format.parse(text)).toMatchObject({ state: 'invalid', errors: [{ what }] });
});

test('a token in the variable of an address, a duration or a number is not quoted', () => {
  const token = '5ec2e7a0b7e2a645f0c4c1e9d3a8f6b1';
  for (const format of [baseUrl('/v1'), duration, wholeNumber, listenAddress, metricsPath, oneOf(['one'])]) {
    const parsed = format.parse(token);
    expect(parsed.state).toBe('invalid');
    expect(JSON.stringify(parsed)).not.toContain(token);
  }
});

test('a quoted value is cut after 80 characters and breaks neither the line nor the terminal', () => {
  const parsed = duration.parse(`\u001b[31m\u2028\u202e${'x y'.repeat(500)}`);
  const shown = `\\u001b[31m\\u{2028}\\u{202e}${'x y'.repeat(24)}x…`;
  expect(parsed).toEqual({ state: 'invalid', errors: [{ what: `"${shown}" is not a duration` }] });
});

test.each([
  [0, '0s', '0'],
  [1_209_600_000, '2w', '14d'],
  [7_776_000_000, '90d', '12w6d'],
  [33_019_506_007, '382d4h5m6s7ms', '1y2w3d4h5m6s7ms'],
  [9_223_372_036_854, '106751d23h47m16s854ms', '292y171d23h47m16s854ms'],
])('%i ms are written as Prometheus writes them, %s, and may be given as %s', (ms, text, other) => {
  expect([formatDuration(ms), parseDuration(text), parseDuration(other)]).toEqual([text, ms, ms]);
});

test('every variable has one line of help, and all defaults are valid', async () => {
  for (const { row } of variableRows) expect(row.help).toMatch(/^[^\n|]{10,120}$/);
  const defaults = Object.fromEntries(variableRows.map(({ name, row }) => [name, row.default]));
  expect(await errorsOf({ ...defaults, ...both })).toEqual([]);
});

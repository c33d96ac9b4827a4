import { expect, test } from 'vitest';
import { createMasker, shownWords } from '../../../src/runtime/masking.ts';
import { Secret } from '../../../src/runtime/secret.ts';

/** Short enough for none of its forms to look like a key. */
const SECRET = 'ab~/ "c';

test.each([
  ['as it is', SECRET, 'bad: <[…]>'],
  ['in another case', 'AB~/ "C', 'bad: <[…]>'],
  ['in base64 for URLs', 'YWJ-LyAiYw', 'bad: <[…]>'],
  ['in base64 behind two bytes', 'OjphYn4vICJj'.slice(3), 'bad: <[…]>'],
  ['in a URL', 'ab~%2F%20%22c', undefined],
  ['in a form', 'ab%7E%2F+%22c', undefined],
  ['in JSON in JSON', 'ab~\\/ \\"c', undefined],
  ['in HTML', 'ab~/ &quot;c', undefined],
])('words of a service that contain a secret %s do not show it', (_, form, shown) => {
  expect(shownWords(`bad: <${form}>`, [SECRET])).toBe(shown);
});

test.each([
  ['no session tok-1', ['Bearer tok-1'], 'no session […]'],
  ['abcd/efgh! is bad', ['abcd', 'abcd/efgh!'], '[…] is bad'],
  ['bad: k3y-abcd…', ['k3y-abcdefgh'], 'bad: […]'],
  ['bad: azN5LWFiY2…', ['k3y-abcdefgh'], 'bad: […]'],
  ['bad: 0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f', [], 'bad: […]'],
  ['bad: eyJhbGciOiJIUzI1NiJ9.eyJz.c2ln', [], 'bad: […]'],
])('words of a service hide what may be a key: "%s", sent %j', (text, secrets, shown) => {
  expect(shownWords(text, secrets)).toBe(shown);
});

test.each([
  'User lacks permission can_view_appliance_dashboard',
  'no route to nas1.vault.bank.corp for /telemetry/appliances',
  'Bear with us: no file of this client has basic rights',
  'abc: the limit is 100 % of 5 GiB/day',
])('words of a service show words that an operator needs: %s', (text) => {
  expect(shownWords(text, ['k3y-abcdefgh', 'Bearer t0k-3n', 'filer-exporter', 'client_credentials', 'abc'])).toBe(text);
});

test('words of a service are one line that controls no terminal, of 200 characters at most', () => {
  expect(shownWords('one\n\ttwo \u001b[31m', [])).toBe('one two \\u{1b}[31m');
  expect(shownWords('a word and '.repeat(1_000), [])).toHaveLength(200);
  expect(shownWords(undefined, [])).toBeUndefined();
});

test.each([
  ['correct horse', 'CORRECT HORSE'],
  ['correct horse', 'correct%20horse'],
  ['correct horse', 'Y29ycmVjdCBob3JzZQ'],
  ['writer:rain town', 'd3JpdGVyOnJhaW4gdG93bg=='],
  ['tom&amp; "j\\', 'tom&amp; \\"j\\\\'],
  ['$1.*(^', '$1.*(^'],
])('a line that the program writes does not show the secret %s in the form %s', (secret, form) => {
  expect(createMasker(() => [secret])(`403: <${form}>`)).toBe('403: <[…]>');
});

test('a line that the program writes keeps its other words, what is too short to be a secret, and everything if there is none', () => {
  const line = '{"msg":"a correct response of abc"}';
  expect(createMasker(() => ['1234'])(Buffer.from('x1234').toString('base64'))).toBe('eD[…]');
  expect([createMasker(() => ['correct horse', 'abc'])(line), createMasker(() => [])(line)]).toEqual([line, line]);
});

test('a line that the program writes does not show a rotated secret, and not the one before it', async () => {
  const secret = new Secret('old phrase', async () => 'new phrase');
  const mask = createMasker(() => secret.everyValue);
  expect(mask('old phrase, new phrase')).toBe('[…], new phrase');
  await secret.reload();
  expect(mask('old phrase, new phrase')).toBe('[…], […]');
});

test.each([
  ['a'.repeat(20_000), `${'a'.repeat(8_000)}b`],
  ['\\'.repeat(20_000), '\\\\\\\\x'],
])('a line that the program writes is masked in a short time, whatever it repeats', (text, secret) => {
  // Processor time, because other processes may keep the machine busy.
  const start = process.cpuUsage();
  createMasker(() => [secret])(text);
  shownWords(text, [secret]);
  expect(process.cpuUsage(start).user / 1_000).toBeLessThan(2_000);
});

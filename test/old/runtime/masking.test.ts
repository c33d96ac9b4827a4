import { describe, expect, test } from 'vitest';
import { createMasker, maskSecrets } from '../../src/runtime/masking.ts';
import { Secret } from '../../src/runtime/secret.ts';

/** Short enough for none of its forms to look like a key. */
const SECRET = 'ab~/ "c';

describe('a text of a service that repeats what it was sent shows none of it', () => {
  test.each([
    ['as it is', SECRET],
    ['in a URL', 'ab~%2F%20%22c'],
    ['in a URL, in lower case', 'ab~%2f%20%22c'],
    ['in a form', 'ab%7E%2F+%22c'],
    ['in JSON', 'ab~/ \\"c'],
    ['in JSON with escaped slashes', 'ab~\\/ \\"c'],
    ['in base64', 'YWJ+LyAiYw=='],
    ['in base64 without its filling', 'YWJ+LyAiYw'],
    ['in base64 for URLs', 'YWJ-LyAiYw'],
    ['in base64 behind two', 'OjphYn4vICJj'.slice(3)],
    ['in HTML', 'ab~/ &quot;c'],
    ['in HTML, in numbers', '&#97;b&#x7e;&#x2F; &#34;c'],
    ['in another case', 'AB~/ "C'],
  ])('%s', (_, form) => {
    expect(maskSecrets(`bad: <${form}>`, { client_secret: SECRET })).toMatch(/^bad: <\[…\]=*>$/);
  });

  test('be it in headers, in a form, or anywhere in JSON', () => {
    const sent = [{ 'x-key': 'k3y!' }, undefined, { token: 't0k!', more: [{ deep: 'd33p' }], count: 1234, none: null }];
    expect(maskSecrets('k3y! t0k! d33p 1234 token', sent)).toBe('[…] […] […] 1234 token');
  });

  test('nor the token behind a scheme, alone', () => {
    expect(maskSecrets('no session tok-1', { authorization: 'Bearer tok-1' })).toBe('no session […]');
  });

  test('not even the rest of one that begins with another', () => {
    expect(maskSecrets('abcd/efgh!', ['abcd', 'abcd/efgh!'])).toBe('[…]');
  });

  test.each(['0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f', 'canary%2FSecret%2B2%3D%3D', 'eyJhbGciOiJIUzI1NiJ9.eyJz.c2ln'])(
    'nor what may be a key, though it was not sent: %s',
    (text) => {
      expect(maskSecrets(`bad: ${text}`, undefined)).toBe('bad: […]');
    },
  );

  test.each([
    ['its beginning, as a service shows it that tells keys apart by it', 'k3y-abcd…'],
    ['its beginning in another case', 'K3Y-ABC***'],
    ['the beginning of its form in base64', 'azN5LWFiY2…'],
  ])('[echoed-secrets] nor %s', (_, shown) => {
    const text = maskSecrets(`bad: ${shown}`, { 'x-service-key': 'k3y-abcdefgh' });
    expect(text.replaceAll(/[…*]+$/g, '')).toBe('bad: […]');
  });

  test('and the words that are sent with it stay where they begin others', () => {
    const sent = [
      { authorization: 'Bearer t0k-3n', 'x-client': 'filer-exporter' },
      { grant_type: 'client_credentials' },
    ];
    const text = 'Bear with us: no file of this client, nor basic rights';
    expect(maskSecrets(text, sent)).toBe(text);
  });

  test('words and numbers stay, and so does what is too short to be a secret', () => {
    expect(maskSecrets('abc: the limit is 100 % of 5 GiB/day', ['abc'])).toBe('abc: the limit is 100 % of 5 GiB/day');
  });

  test.each([
    'User lacks permission can_view_appliance_dashboard',
    'no route to nas1.vault.bank.corp for /telemetry/appliances',
    'CanViewApplianceDashboard is ERR_PERMISSION_DENIED',
  ])('[words-stay] words that an operator needs stay, however long: %s', (text) => {
    expect(maskSecrets(text, { 'x-service-key': 'k3y-abcdefgh' })).toBe(text);
  });

  test('whatever a service has issued can be sent back, half a character too', () => {
    expect(maskSecrets('bad \ud800abcd', { token: '\ud800abcd' })).toBe('bad […]');
  });
});

describe('a line that the program writes', () => {
  const secrets = ['correct horse', 'writer:rain town', 'abc'];
  const hidden = createMasker(() => secrets);

  test.each(['correct horse', 'CORRECT HORSE', 'correct%20horse', 'Y29ycmVjdCBob3JzZQ', 'd3JpdGVyOnJhaW4gdG93bg=='])(
    'has no secret in it, in the form %s',
    (form) => {
      expect(hidden(`403: ${form}`)).toMatch(/^403: \[…\]=*$/);
    },
  );

  test.each([
    ['as it is, with what is an entity in HTML', 'tom&amp; "j\\'],
    ['in HTML', 'tom&amp;amp; &quot;j\\'],
    ['in JSON as Go writes it', 'tom\\u0026amp; \\"j\\\\'],
    ['in JSON that is a text in JSON', 'tom&amp; \\\\\\"j\\\\\\\\'],
    ['in a URL with more encoded than needs to be', 't%6Fm%26amp%3b%20%22j%5C'],
  ])('has no secret in it that a receiver repeats %s', (_, form) => {
    expect(createMasker(() => ['tom&amp; "j\\'])(`401: <${form}>`)).toBe('401: <[…]>');
  });

  test.each([
    ['thousands of backslashes', '\\'.repeat(20_000), '\\\\\\\\x'],
    ['twenty thousand equal letters', 'a'.repeat(20_000), `${'a'.repeat(12_000)}b`],
    ['a secret that begins again and again', 'ab'.repeat(10_000), `${'ab'.repeat(6_000)}c`],
    ['beginnings of encodings', '&#000%2'.repeat(10_000), '&#000%2'],
  ])('[masking-time] is as quick to mask as any other with %s', (_, text, secret) => {
    // Processor time, because other processes may keep the machine busy.
    const begun = process.cpuUsage();
    createMasker(() => [secret])(text);
    maskSecrets(text, [secret]);
    expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(2_000);
  });

  test('has no beginning of a secret at its end, where it was cut', () => {
    expect(createMasker(() => ['t0k3n-abcdefgh'])('no: t0k3n-abcdefgh t0k3n-abc')).toBe('no: […] […]');
  });

  test('keeps its other words, and what is too short to be a secret', () => {
    expect(hidden('{"msg":"a correct answer of abc"}')).toBe('{"msg":"a correct answer of abc"}');
  });

  test('hides a rotated secret too, and the one before it', async () => {
    const values = ['old phrase', 'new phrase'];
    const secret = new Secret(() => values[0] ?? '');
    const line = createMasker(() => secret.everyValue);
    values.shift();
    await secret.reload();
    expect(line('old phrase, new phrase')).toBe('[…], […]');
  });
});

import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { asError } from '../../../src/runtime/errors.ts';
import { Secret } from '../../../src/runtime/secret.ts';
import fc from '../../harness/fast-check.ts';

const secret = new Secret('hunter2');

test.each([
  ['a text', `${secret}`],
  ['JSON', JSON.stringify({ secret })],
  ['an inspection', inspect({ deep: { secret } }, { depth: 9, showHidden: true })],
  ['its keys and values', JSON.stringify([Object.entries(secret), { ...secret }])],
])('a secret is never in %s', (_, written) => {
  expect(written).not.toContain('hunter2');
});

test('a secret keeps its value while its file cannot be read, and remembers the value that was replaced', async () => {
  const files = [Promise.reject(new Error('EACCES')), 'two', 'two'];
  const rotated = new Secret('one', async () => (await files.shift()) ?? '');
  expect([await rotated.reload(), rotated.reveal()]).toEqual([false, 'one']);
  expect([await rotated.reload(), await rotated.reload(), rotated.everyValue]).toEqual([true, false, ['two', 'one']]);
});

test('property: whatever is thrown becomes an error', () => {
  fc.assert(fc.property(fc.anything({ withNullPrototype: true }), (thrown) => asError(thrown) instanceof Error));
});

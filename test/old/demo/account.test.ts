import { expect, test } from 'vitest';
import { type Fields, get, start } from './ask.ts';

test('what the portal tells of people and secrets is all on the list of what must never leave', async () => {
  const { mocks } = await start();
  const told = await Promise.all(
    ['/account', '/iam/users', '/iam/service_keys', '/iam/user_keys', '/gfa/api_keys', '/cloud-credentials'].map(
      async (path) => (await get(mocks, path)).json,
    ),
  );
  const secretive = /^(email|first_name|last_name|phone|username|key|access_key|secret)$/;
  const values = found(told, secretive).filter((value) => value !== 'public');
  expect(values.length).toBeGreaterThan(20);
  expect([...new Set(values)].filter((value) => !mocks.confidential.includes(value))).toEqual([]);
});

/** The texts of every field of a name, however deep. */
function found(value: unknown, name: RegExp): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value as Fields).flatMap(([field, inner]) =>
    typeof inner === 'string' ? (name.test(field) ? [inner] : []) : found(inner, name),
  );
}

import { compareSync } from 'bcryptjs';
import { describe, expect, test } from 'vitest';
import { Passwords } from '../../src/web/passwords.ts';
import { GEHEIM, GEHEIM_AT_10 } from './asking.ts';

const users = new Map([
  ['me', GEHEIM],
  ['you', GEHEIM],
]);

/** Checks as the thread does, and notes every check. */
function checking() {
  const hashes: string[] = [];
  const passwords = new Passwords(
    (password, hash) => {
      hashes.push(hash);
      return Promise.resolve(compareSync(password, hash));
    },
    Buffer.alloc(32, 1),
  );
  return { passwords, hashes };
}

describe('a password', () => {
  test('is checked once, right or wrong, and remembered', async () => {
    const { passwords, hashes } = checking();
    for (let asked = 0; asked < 3; asked += 1) {
      expect(await passwords.check(users, 'me', 'geheim')).toBe('right');
      expect(await passwords.check(users, 'me', 'Geheim')).toBe('wrong');
    }
    expect(hashes).toEqual([GEHEIM, GEHEIM]);
  });

  test('of somebody who is not there is checked too, against a hash at the cost of the others', async () => {
    const { passwords, hashes } = checking();
    expect(await passwords.check(users, 'nobody', 'geheim')).toBe('wrong');
    expect(hashes.map((hash) => hash.slice(0, 7))).toEqual(['$2b$04$']);
    const costly = new Map([['me', GEHEIM_AT_10]]);
    expect(await passwords.check(costly, 'nobody', 'geheim')).toBe('wrong');
    expect(hashes.map((hash) => hash.slice(0, 7))).toEqual(['$2b$04$', '$2b$10$']);
  });

  test('that was right is not any more when its hash has changed', async () => {
    const { passwords } = checking();
    expect(await passwords.check(users, 'me', 'geheim')).toBe('right');
    const changed = new Map([['me', GEHEIM_AT_10.replace('BNuXC', 'BNuXO')]]);
    expect(await passwords.check(changed, 'me', 'geheim')).toBe('wrong');
    expect(await passwords.check(new Map([['you', GEHEIM]]), 'me', 'geheim')).toBe('wrong');
  });

  test('is not forgotten for guesses, however many', async () => {
    const { passwords, hashes } = checking();
    await passwords.check(users, 'me', 'geheim');
    for (let guess = 0; guess < 300; guess += 1) await passwords.check(users, 'me', String(guess));
    const before = hashes.length;
    expect(await passwords.check(users, 'me', 'geheim')).toBe('right');
    expect(hashes.length).toBe(before);
    // Of guesses only the latest are remembered.
    await passwords.check(users, 'me', '0');
    expect(hashes.length).toBe(before + 1);
  });

  test('asked for twice at once is checked once; beyond twenty at once somebody has to come again', async () => {
    const asked: string[] = [];
    const never = new Passwords(
      (password) => {
        asked.push(password);
        return new Promise<boolean>(() => {});
      },
      Buffer.alloc(32, 1),
    );
    for (let guess = 0; guess < 20; guess += 1) void never.check(users, 'me', String(guess));
    void never.check(users, 'me', '0');
    expect(asked).toHaveLength(20);
    expect(never.check(users, 'me', 'one more')).toBe('busy');
  });

  test('that cannot be checked is neither right nor remembered, and the next one is checked again', async () => {
    let fails = true;
    const passwords = new Passwords(
      () => (fails ? Promise.reject(new Error('no thread')) : Promise.resolve(true)),
      Buffer.alloc(32, 1),
    );
    await expect(passwords.check(users, 'me', 'geheim')).rejects.toThrow('no thread');
    fails = false;
    expect(await passwords.check(users, 'me', 'geheim')).toBe('right');
  });
});

// Only here: passwords that are checked too often, or remembered too long.
import { compareSync, getRounds } from 'bcryptjs';
import { describe, expect, test } from 'vitest';
import { Passwords } from '../../src/web/passwords.ts';
import { settle } from '../support/manual-clock.ts';
import { GEHEIM, GEHEIM_AT_10 } from './asking.ts';

const users = new Map([
  ['me', GEHEIM],
  ['you', GEHEIM],
]);

/** Where somebody asks from. */
const here = '192.0.2.1';

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

/** Checks that find every password wrong, each when told. */
function held() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const compare = (password: string) =>
    new Promise<boolean>((resolve) => {
      begun.push(password);
      ends.push(() => resolve(false));
    });
  const end = async () => {
    await settle();
    ends.shift()?.();
    await settle();
  };
  return { passwords: new Passwords(compare, Buffer.alloc(32, 1)), begun, end };
}

describe('a password', () => {
  test('is checked once, right or wrong, and remembered', async () => {
    const { passwords, hashes } = checking();
    for (let asked = 0; asked < 3; asked += 1) {
      expect(await passwords.check(users, 'me', 'geheim', here)).toBe('right');
      expect(await passwords.check(users, 'me', 'Geheim', here)).toBe('wrong');
    }
    expect(hashes).toEqual([GEHEIM, GEHEIM]);
  });

  test('of an unknown user takes one check of a whole hash, with a cost that depends on the name', async () => {
    const hashes: string[] = [];
    const noting = (_: string, hash: string) => {
      hashes.push(hash);
      return Promise.resolve(false);
    };
    const passwords = new Passwords(noting, Buffer.alloc(32, 1));
    const costs = [4, 9, 10, 11];
    const mixed = new Map(
      costs.map((cost) => [`at ${cost}`, GEHEIM.replace('$04$', `$${String(cost).padStart(2, '0')}$`)]),
    );
    const found = new Set<number>();
    for (let name = 0; name < 50; name += 1) {
      expect(await passwords.check(mixed, `nobody ${name}`, 'geheim', here)).toBe('wrong');
      expect(await passwords.check(mixed, `nobody ${name}`, 'Geheim', here)).toBe('wrong');
      expect(hashes).toHaveLength(2);
      const [hash = '', again = ''] = hashes.splice(0);
      // Of a hash that is not as long as all others bcryptjs says at once that it does not match.
      expect(hash).toMatch(/^\$2b\$\d\d\$[./\dA-Za-z]{53}$/);
      expect(again).toBe(hash);
      found.add(getRounds(hash));
    }
    expect([...found].toSorted((one, other) => one - other)).toEqual(costs);
  });

  test('that was right is not any more when its hash has changed', async () => {
    const { passwords } = checking();
    expect(await passwords.check(users, 'me', 'geheim', here)).toBe('right');
    const changed = new Map([['me', GEHEIM_AT_10.replace('BNuXC', 'BNuXO')]]);
    expect(await passwords.check(changed, 'me', 'geheim', here)).toBe('wrong');
    expect(await passwords.check(new Map([['you', GEHEIM]]), 'me', 'geheim', here)).toBe('wrong');
  });

  test('is not forgotten for guesses, however many', async () => {
    const { passwords, hashes } = checking();
    await passwords.check(users, 'me', 'geheim', here);
    for (let guess = 0; guess < 300; guess += 1) await passwords.check(users, 'me', String(guess), here);
    const before = hashes.length;
    expect(await passwords.check(users, 'me', 'geheim', here)).toBe('right');
    expect(hashes.length).toBe(before);
    // Of guesses only the latest are remembered.
    await passwords.check(users, 'me', '0', here);
    expect(hashes.length).toBe(before + 1);
  });

  test('that arrives twice at once is checked once; a client with four checks has to retry', async () => {
    const { passwords, begun, end } = held();
    const first = passwords.check(users, 'me', '0', here);
    expect(passwords.check(users, 'me', '0', here)).toBe(first);
    const waiting = ['1', '2', '3'].map((guess) => passwords.check(users, 'me', guess, here));
    expect(await passwords.check(users, 'me', 'one more', here)).toBe('busy');
    for (let ended = 0; ended < 4; ended += 1) await end();
    expect(begun).toEqual(['0', '1', '2', '3']);
    expect(await Promise.all([first, ...waiting])).toEqual(Array(4).fill('wrong'));
    expect(passwords.check(users, 'me', 'one more', here)).toBeInstanceOf(Promise);
  });

  test('is checked in order of arrival, and rejected where too many wait', async () => {
    const { passwords, begun, end } = held();
    const from = (address: string, ...guesses: readonly string[]) =>
      guesses.map((guess) => passwords.check(users, 'me', guess, address));
    from('2001:db8::1', 'a1', 'a2');
    expect(from('2001:db8::2', 'a3', 'a4', 'a5').at(-1)).toBe('busy');
    from('192.0.2.1', 'b1');
    for (let ended = 0; ended < 5; ended += 1) await end();
    expect(begun).toEqual(['a1', 'a2', 'a3', 'a4', 'b1']);
    const crowd = Array.from({ length: 200 }, (_, at) => from(`198.51.100.${at}`, `c${at}`)).flat();
    expect(crowd.filter((verdict) => verdict === 'busy').length).toBeGreaterThan(60);
  });

  test('that waits to be checked is checked and remembered though its client gives up meanwhile', async () => {
    const { passwords, begun, end } = held();
    void passwords.check(users, 'me', 'first', here);
    void passwords.check(users, 'me', 'second', here);
    await end();
    await end();
    expect(begun).toEqual(['first', 'second']);
    expect(passwords.check(users, 'me', 'second', '192.0.2.2')).toBe('wrong');
  });

  test('that cannot be checked is neither right nor remembered, and the next one is checked again', async () => {
    let fails = true;
    const passwords = new Passwords(
      () => (fails ? Promise.reject(new Error('no thread')) : Promise.resolve(true)),
      Buffer.alloc(32, 1),
    );
    await expect(passwords.check(users, 'me', 'geheim', here)).rejects.toThrow('no thread');
    fails = false;
    expect(await passwords.check(users, 'me', 'geheim', here)).toBe('right');
  });
});

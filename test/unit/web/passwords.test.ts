import { expect, test } from 'vitest';
import { PasswordChecker } from '../../../src/web/passwords.ts';
import { settle } from '../../harness/manual-clock.ts';

const users = new Map([
  ['me', 'hash of geheim'],
  ['you', 'hash of secret'],
]);

/** A checker whose comparisons end when a test ends them. */
function checker() {
  const compared: string[] = [];
  const ends: (() => void)[] = [];
  const compare = (password: string, hash: string) => {
    compared.push(`${password} with ${hash}`);
    return new Promise<boolean>((resolve) => ends.push(() => resolve(hash === `hash of ${password}`)));
  };
  const passwords = new PasswordChecker(compare, Buffer.alloc(32, 1));
  const check = (user: string, password: string, address = '192.0.2.1', known = users) =>
    passwords.check(known, { user, password, address });
  /** Ends each comparison in turn. */
  const endAll = async () => {
    await settle();
    while (ends.length > 0) {
      ends.shift()?.();
      await settle();
    }
  };
  return { passwords, compared, ends, check, endAll };
}

test('a right password is compared once and remembered; a wrong one is compared each time', async () => {
  const { compared, check, endAll } = checker();
  for (let times = 0; times < 3; times += 1) {
    const results = [check('me', 'geheim'), check('me', 'Geheim')];
    await endAll();
    expect(await Promise.all(results)).toEqual(['right', 'wrong']);
  }
  expect(compared.filter((comparison) => comparison.startsWith('geheim'))).toHaveLength(1);
  expect(compared).toHaveLength(4);
});

test('connections that send the same password at once share one comparison', async () => {
  const { compared, check, endAll } = checker();
  const results = [check('me', 'geheim'), check('me', 'geheim'), check('me', 'geheim', '192.0.2.2')];
  await endAll();
  expect([await Promise.all(results), compared.length]).toEqual([['right', 'right', 'right'], 1]);
});

test('an unknown user costs a comparison too, and is rejected even with the password of another user', async () => {
  const { compared, check, endAll } = checker();
  const result = check('nobody', 'geheim');
  await endAll();
  expect([await result, compared]).toEqual(['wrong', ['geheim with hash of geheim']]);
});

test('a password is forgotten when its hash is replaced or its user is removed', async () => {
  const { passwords, compared, check, endAll } = checker();
  const first = check('me', 'geheim');
  await endAll();
  expect(await first).toBe('right');
  const changed = new Map([['me', 'hash of another']]);
  const results = [
    check('me', 'geheim', '192.0.2.1', changed),
    check('me', 'geheim', '192.0.2.1', new Map([['you', '']])),
  ];
  await endAll();
  expect(await Promise.all(results)).toEqual(['wrong', 'wrong']);
  passwords.keepOnly(new Map());
  void check('me', 'geheim');
  await settle();
  expect(compared).toHaveLength(4);
});

test('an address has eight checks at most that wait or run, so that a client that guesses delays others by eight', async () => {
  const { ends, check, endAll } = checker();
  const guesses = Array.from({ length: 20 }, (_, guess) => check('me', `guess ${guess}`, '192.0.2.66'));
  const scraper = check('me', 'geheim');
  await settle();
  expect(ends).toHaveLength(1);
  await endAll();
  expect((await Promise.all(guesses)).filter((result) => result === 'busy')).toHaveLength(12);
  expect(await scraper).toBe('right');
  const later = check('me', 'later', '192.0.2.66');
  await endAll();
  expect(await later).toBe('wrong');
});

test('a comparison that fails is no answer, and the next one begins anew', async () => {
  let fails = true;
  const compare = () => (fails ? Promise.reject(new Error('no thread')) : Promise.resolve(true));
  const passwords = new PasswordChecker(compare, Buffer.alloc(32, 1));
  const check = () => passwords.check(users, { user: 'me', password: 'geheim', address: '192.0.2.1' });
  await expect(check()).rejects.toThrow('no thread');
  fails = false;
  expect(await check()).toBe('right');
});

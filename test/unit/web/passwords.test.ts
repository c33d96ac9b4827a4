import { expect, test } from 'vitest';
import type { PasswordComparison } from '../../../src/web/password-worker.ts';
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
  const compare = ({ password, hash }: PasswordComparison) => {
    compared.push(password);
    return new Promise<boolean>((resolve) => ends.push(() => resolve(hash === `hash of ${password}`)));
  };
  const passwords = new PasswordChecker(compare, Buffer.alloc(32, 1));
  const check = (user: string, password: string, address = '192.0.2.1', known = users) =>
    passwords.check(known, { user, password, address });
  /** Ends every comparison, and returns the results. */
  const results = async (...checks: readonly Promise<string>[]) => {
    await settle();
    for (; ends.length > 0; await settle()) ends.shift()?.();
    return Promise.all(checks);
  };
  return { compared, ends, check, results };
}

test('a right password is compared once, whoever sends it; a wrong one and that of an unknown user each time', async () => {
  const { compared, check, results } = checker();
  const same = [check('me', 'geheim'), check('me', 'geheim', '192.0.2.2'), check('me', 'Geheim')];
  expect(await results(...same)).toEqual(['right', 'right', 'wrong']);
  expect(await results(check('me', 'geheim'), check('me', 'Geheim'))).toEqual(['right', 'wrong']);
  expect(await results(check('nobody', 'geheim'))).toEqual(['wrong']);
  expect(compared).toEqual(['geheim', 'Geheim', 'Geheim', 'geheim']);
});

test('a password is forgotten when its hash is replaced or its user is removed', async () => {
  const { compared, check, results } = checker();
  await results(check('me', 'geheim'));
  const changed = new Map([['me', 'hash of another']]);
  const without = new Map([['you', '']]);
  const checks = [check('me', 'geheim', '192.0.2.1', changed), check('me', 'geheim', '192.0.2.1', without)];
  expect(await results(...checks)).toEqual(['wrong', 'wrong']);
  expect(compared).toHaveLength(3);
});

test('one comparison runs at a time, and a client that guesses delays others by four at most', async () => {
  const { ends, check, results } = checker();
  const guesses = Array.from({ length: 20 }, (_, guess) => check('me', `guess ${guess}`, '192.0.2.66'));
  const scraper = check('me', 'geheim');
  await settle();
  expect(ends).toHaveLength(1);
  const ended = await results(scraper, ...guesses);
  expect([ended[0], ended.filter((result) => result === 'busy').length]).toEqual(['right', 16]);
  expect(await results(check('me', 'later', '192.0.2.66'))).toEqual(['wrong']);
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

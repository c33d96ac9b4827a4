// Only here: passwords that are checked too often, or remembered too long.
import { compareSync, getRounds } from 'bcryptjs';
import { describe, expect, test } from 'vitest';
import { PasswordChecker } from '../../src/web/password-checker.ts';
import { ManualClock, settle } from '../support/manual-clock.ts';
import { GEHEIM, GEHEIM_AT_10 } from './asking.ts';

const users = new Map([
  ['me', GEHEIM],
  ['you', GEHEIM],
]);

const key = Buffer.alloc(32, 1);

/** A checker of real hashes, or of made ones, with the hash of each comparison. */
function checking(compare = (password: string, hash: string) => compareSync(password, hash)) {
  const hashes: string[] = [];
  const checker = new PasswordChecker(
    (password, hash) => {
      hashes.push(hash);
      return Promise.resolve(compare(password, hash));
    },
    key,
    new ManualClock(),
  );
  const check = (user: string, password: string, known: ReadonlyMap<string, string> = users) =>
    checker.check(known, { user, password, address: '192.0.2.1' });
  return { check, hashes };
}

/** A checker whose comparisons end one by one, when a test ends them; right is `geheim`. */
function waiting() {
  const clock = new ManualClock();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const compare = (password: string) =>
    new Promise<boolean>((resolve) => {
      begun.push(password);
      ends.push(() => resolve(password === 'geheim'));
    });
  const checker = new PasswordChecker(compare, key, clock);
  const end = async () => {
    await settle();
    ends.shift()?.();
    await settle();
  };
  const check = (password: string, address: string) => checker.check(users, { user: 'me', password, address });
  return { clock, begun, end, check };
}

describe('a password', () => {
  test('is remembered if it is right, and checked each time if it is wrong', async () => {
    const { check, hashes } = checking();
    for (let times = 0; times < 3; times += 1) {
      expect(await check('me', 'geheim')).toBe('right');
      expect(await check('me', 'Geheim')).toBe('wrong');
    }
    expect(hashes).toHaveLength(4);
  });

  test('of an unknown user is compared with a whole hash of the lowest cost, whatever the name', async () => {
    const { check, hashes } = checking(() => true);
    const at = (cost: string) => GEHEIM.replace('$04$', `$${cost}$`);
    const mixed = new Map([
      ['expensive', at('14')],
      ['cheap', at('09')],
    ]);
    for (let name = 0; name < 20; name += 1) expect(await check(`nobody ${name}`, 'geheim', mixed)).toBe('wrong');
    // bcryptjs rejects a hash of another length at once, which would show that the user is unknown.
    expect(hashes.every((hash) => /^\$2b\$\d\d\$[./\dA-Za-z]{53}$/.test(hash))).toBe(true);
    expect(new Set(hashes.map(getRounds))).toEqual(new Set([9]));
  });

  test('that was right is wrong as soon as its hash has changed or its user is removed', async () => {
    const { check } = checking();
    expect(await check('me', 'geheim')).toBe('right');
    const changed = new Map([['me', GEHEIM_AT_10.replace('BNuXC', 'BNuXO')]]);
    expect(await check('me', 'geheim', changed)).toBe('wrong');
    expect(await check('me', 'geheim', new Map([['you', GEHEIM]]))).toBe('wrong');
  });

  test('that cannot be checked is not remembered, and the next one is checked again', async () => {
    let fails = true;
    const { check } = checking(() => {
      if (fails) throw new Error('no thread');
      return true;
    });
    await expect(check('me', 'geheim')).rejects.toThrow('no thread');
    fails = false;
    expect(await check('me', 'geheim')).toBe('right');
  });
});

describe('passwords that wait', () => {
  test('are compared one at a time; the one whose address has tried least is next', async () => {
    const { begun, end, check } = waiting();
    const guesses = Array.from({ length: 50 }, (_, guess) => check(`guess ${guess}`, '192.0.2.66'));
    const scraper = check('geheim', '192.0.2.1');
    await end();
    await end();
    expect(begun.slice(0, 2)).toEqual(['guess 0', 'geheim']);
    expect(await scraper).toBe('right');
    expect(await Promise.all([guesses[0], guesses[17], guesses[49]])).toEqual(['wrong', 'busy', 'busy']);
  });

  test('do not keep a scraper out though 300 addresses guess, even if their first guesses come with it', async () => {
    const { begun, end, check } = waiting();
    const guess = (times: number) => {
      for (let address = 0; address < 300; address += 1) void check(`${address} ${times}`, `198.51.100.${address}`);
    };
    guess(1);
    const scraper = check('geheim', '192.0.2.1');
    guess(2);
    await end();
    await end();
    expect(begun.slice(0, 2)).toEqual(['0 1', 'geheim']);
    expect(await scraper).toBe('right');
  });

  test('keep out a scraper that comes between the first guesses of 300 addresses only until it tries again', async () => {
    const { end, check } = waiting();
    const guess = async (address: number) => {
      for (let times = 0; times < 50; times += 1) await check(`${address} ${times}`, `198.51.100.${address}`);
    };
    for (let address = 0; address < 150; address += 1) void guess(address);
    const early = check('geheim', '192.0.2.1');
    for (let address = 150; address < 300; address += 1) void guess(address);
    expect(await early).toBe('busy');
    await end();
    const late = check('geheim', '192.0.2.1');
    for (let ended = 0; ended < 9; ended += 1) await end();
    expect(await late).toBe('right');
  });

  test('are compared and remembered though their clients give up, and the same password but once', async () => {
    const { begun, end, check } = waiting();
    const same = Array.from({ length: 17 }, (_, address) => check('geheim', `192.0.2.${address}`));
    await end();
    expect(await Promise.all(same)).toEqual(Array(17).fill('right'));
    expect(begun).toEqual(['geheim']);
  });

  test('count for a minute', async () => {
    const { clock, begun, end, check } = waiting();
    for (let times = 0; times < 3; times += 1) {
      void check(`${times}`, '192.0.2.66');
      await end();
    }
    const race = async (name: string) => {
      void check(`running ${name}`, '192.0.2.9');
      const early = check(`early ${name}`, '192.0.2.7');
      const late = check(`late ${name}`, '192.0.2.66');
      for (let ended = 0; ended < 3; ended += 1) await end();
      await Promise.all([late, early]);
    };
    await race('before');
    await clock.advance(60_000);
    await race('after');
    expect(begun.slice(3)).toEqual([
      'running before',
      'early before',
      'late before',
      'running after',
      'late after',
      'early after',
    ]);
  });
});

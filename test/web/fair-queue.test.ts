import { describe, expect, test } from 'vitest';
import { FairQueue } from '../../src/web/fair-queue.ts';
import { networksOf } from '../../src/web/networks.ts';
import { settle } from '../support/manual-clock.ts';

/** A queue whose turns end one by one, when told. */
function queue(limits = { each: 4, all: 64 }) {
  const fair = new FairQueue(limits);
  const begun: string[] = [];
  const skipped: string[] = [];
  const ends: (() => void)[] = [];
  const ask = (name: string, address: string) => {
    const job = () => {
      begun.push(name);
      return new Promise<true>((resolve) => ends.push(() => resolve(true)));
    };
    void fair.run(address, job).then((done) => done ?? skipped.push(name));
  };
  const end = async (times = 1) => {
    for (let ended = 0; ended < times; ended += 1) {
      ends.shift()?.();
      await settle();
    }
  };
  return { begun, skipped, ask, end };
}

test.each([
  ['192.0.2.7', ['192.0', '192.0.2', '192.0.2.7']],
  ['::ffff:192.0.2.7', ['192.0', '192.0.2', '192.0.2.7']],
  ['2001:db8:0:1::7', ['2001:db8:0', '2001:db8:0:1']],
  ['2001:0DB8::1', ['2001:db8:0', '2001:db8:0:0']],
  ['fe80::1%eth0', ['fe80:0:0', 'fe80:0:0:0']],
  ['::1', ['0:0:0', '0:0:0:0']],
  ['1::', ['1:0:0', '1:0:0:0']],
  ['', ['']],
])('%j belongs to the networks %j', (address, networks) => {
  expect(networksOf(address)).toEqual(networks);
});

describe('a client that was not served yet', () => {
  test.each([
    ['of one network of IPv4', (guess: number) => `198.51.100.${guess}`],
    ['of one /16', (guess: number) => `198.51.${guess}.1`],
    ['of one /64', (guess: number) => `2001:db8::${guess.toString(16)}`],
    ['of one /48', (guess: number) => `2001:db8:0:${guess.toString(16)}::1`],
  ])('waits for one turn of a thousand addresses %s, and is not pushed out by them', async (_, address) => {
    const { begun, skipped, ask, end } = queue();
    for (let guess = 0; guess < 250; guess += 1) ask(`guess ${guess}`, address(guess));
    ask('scraper', '203.0.113.1');
    for (let guess = 0; guess < 250; guess += 1) ask(`later guess ${guess}`, address(guess));
    await end(2);
    expect(begun.slice(0, 2)).toEqual(['guess 0', 'scraper']);
    expect(skipped.length).toBeGreaterThan(100);
    expect(skipped).not.toContain('scraper');
  });

  test('goes before every network that was served, however many there are', async () => {
    const { begun, ask, end } = queue();
    for (let round = 0; round < 3; round += 1) {
      for (let network = 0; network < 40; network += 1) ask(`${round}: ${network}`, `10.${network}.0.1`);
      await end(40);
    }
    for (let network = 0; network < 40; network += 1) ask(`again: ${network}`, `10.${network}.0.1`);
    ask('scraper', '203.0.113.1');
    await end(2);
    expect(begun.slice(120, 122)).toContain('scraper');
  });

  test('goes before others of its own network that were', async () => {
    const { begun, ask, end } = queue();
    for (let guess = 0; guess < 5; guess += 1) ask(`guess ${guess}`, '192.0.2.66');
    ask('scraper', '192.0.2.1');
    await end(2);
    expect(begun).toEqual(['guess 0', 'scraper', 'guess 1']);
  });
});

test('no more than the limit wait, from any number of addresses', async () => {
  const { begun, skipped, ask, end } = queue({ each: 4, all: 10 });
  for (let network = 0; network < 100; network += 1) ask(`${network}`, `${network}.0.0.1`);
  await end(200);
  expect([begun.length, skipped.length]).toEqual([11, 89]);
});

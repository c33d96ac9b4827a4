// Only here: answers that would end a process for lack of memory.
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import { within } from '../support/machine.ts';
import { type Program, start } from '../support/program.ts';
import { realServices } from '../support/real-services.ts';
import { get, scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';

/* The program in 128 MiB, with nothing about sizes configured, and answers that are made to be too much for it. */

const APPLIANCES = 16;

/** What fills a list, over and over, up to so many bytes. */
const FILLINGS: Readonly<Record<string, (bytes: number) => string>> = {
  'empty objects': (bytes) => '{},'.repeat(bytes / 3),
  'empty lists': (bytes) => '[],'.repeat(bytes / 3),
  numbers: (bytes) => '0,'.repeat(bytes / 2),
  fractions: (bytes) => '0.5,'.repeat(bytes / 4),
  'short texts': (bytes) => '"ab",'.repeat(bytes / 5),
  'texts of a kilobyte': (bytes) => `"${'x'.repeat(1_000)}",`.repeat(bytes / 1_003),
  'a text': (bytes) => `"${'x'.repeat(bytes - 3)}",`,
  'objects each with a key of its own': (bytes) =>
    Array.from({ length: bytes / 16 }, (_, index) => `{"${String(index).padStart(8, 'k')}":1},`).join(''),
  'objects of a hundred keys that occur nowhere else': (bytes) =>
    Array.from({ length: bytes / 1_300 }, (_, object) => {
      const keys = Array.from({ length: 100 }, (_, key) => `"${String(100 * object + key).padStart(8, 'k')}":1`);
      return `{${keys.join(',')}},`;
    }).join(''),
  'objects of eight of a few keys, in every order': (bytes) => {
    const random = seededRandom(1);
    const key = () => `"k${Math.trunc(random() * 40)}":1`;
    return Array.from({ length: bytes / 66 }, () => `{${Array.from({ length: 8 }, key).join(',')}},`).join('');
  },
  'objects of one number as a key': (bytes) => '{"12":1},'.repeat(bytes / 9),
  'lists in each other': (bytes) => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2 - 1)},`,
};

/**
 * What is spoiled, by the mock services' name and ours, and just within what so little memory leaves for it. `token` has a
 * test of its own: without one nothing else is asked.
 */
const OPERATIONS = [
  { operation: 'data', label: 'data', bytes: 4_000_000 },
  { operation: 'serials', label: 'serials', bytes: 1_000_000 },
  { operation: 'edges', label: 'edges', bytes: 1_000_000 },
  { operation: 'volume_connections', label: 'volume_connections', bytes: 2_000_000 },
  { operation: 'license', label: 'account_license', bytes: 500_000 },
  { operation: 'cpu_utilization', label: 'cpu_utilization', bytes: 500_000 },
] as const;

/** Just within MAX_RESPONSE_BYTES. */
const LARGEST = 33_500_000;

/** An answer to anything, packed: next to nothing on the way. */
function answerOf(filling: string, bytes: number) {
  const json = `{"info":{},"metrics":[],"items":[${FILLINGS[filling]?.(bytes)}0]}`;
  return { kind: 'body', body: gzipSync(json, { level: 1 }), headers: { 'content-encoding': 'gzip' } } as const;
}

/** Starts it in a container of so little memory, or else with the heap that it has in one. */
async function small(tokenLifetimeMs = 900_000): Promise<{ readonly mocks: MockServices; readonly program: Program }> {
  const variations = { rateLimit: null, dailyLimit: null, tokenLifetimeMs };
  const { mocks, environment: services } = await realServices({ appliances: APPLIANCES, variations });
  const environment = {
    ...services,
    GFA_INTERVAL: '1s',
    PORTAL_INTERVAL: '1s',
    PORTAL_DISCOVERY_INTERVAL: '1s',
    STALE_AFTER: '1000',
    PORTAL_RATE_LIMIT: '30000/30s',
    PORTAL_DAILY_LIMIT: '0',
    PORTAL_COLLECTORS: 'telemetry,volumes=1s,edges=1s,license=1s',
  };
  const { through, heap } = within(128);
  const program = start([], { environment: { ...environment, ...heap }, through });
  return { mocks, program };
}

function asked(mocks: MockServices, operation: string): number {
  return mocks.requests.filter((request) => request.operation === operation).length;
}

async function isWell(url: string): Promise<boolean> {
  const now = await scrape(url);
  return now.sum('filer_api_up') === 2 && now.sum('filer_appliance_up') === APPLIANCES;
}

function expectAlive({ child }: Program): void {
  expect([child.exitCode, child.signalCode]).toEqual([null, null]);
}

/** Spoils every operation at once, eight series among them, until each has been answered so. */
async function spoil(mocks: MockServices, { ended }: Program, filling: string, most: number): Promise<void> {
  const all = OPERATIONS.map(({ operation, bytes }) => {
    // After a list of serials that cannot be read the edges are not asked for.
    const times = operation === 'serials' ? { times: 1 } : {};
    const lift = mocks.fail({ ...answerOf(filling, Math.max(bytes, most)), ...times, operation });
    // More than are in flight at once, so that one at least has been read.
    const enough = asked(mocks, operation) + (operation === 'cpu_utilization' ? 10 : 3);
    return { operation, lift, isMet: () => asked(mocks, operation) >= enough };
  });
  const look = () => {
    expect(all.filter(({ isMet }) => !isMet()).map(({ operation }) => operation)).toEqual([]);
    return true;
  };
  await Promise.race([until(`answers full of ${filling} everywhere`, look), ended]);
  for (const { lift } of all) lift();
}

test('[heavy-answers] with oversized answers to all operations at once, the process lives, serves, reports it and recovers', async () => {
  const { mocks, program } = await small();
  const url = await program.serving();
  await until('both to be up', () => isWell(url));
  const fillings = Object.keys(FILLINGS).map((filling) => ({ filling, most: 0 }));
  for (const { filling, most } of [...fillings, { filling: 'empty objects', most: LARGEST }]) {
    await spoil(mocks, program, filling, most);
    expectAlive(program);
    expect((await get(`${url}/metrics`)).status).toBe(200);
  }
  await until('everything to be well again', () => isWell(url));
  const after = await scrape(url);
  for (const { label } of OPERATIONS) {
    const refused = after.sum('filer_exporter_requests_total', { operation: label, code: 'oversize' });
    expect([label, refused > 0]).toEqual([label, true]);
  }
  program.kill('SIGTERM');
  expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
});

test('after an oversized answer to a token request, the token is requested again', async () => {
  const { mocks, program } = await small(3_000);
  const answers = ['empty objects', 'numbers'].flatMap((filling) =>
    [500_000, LARGEST].map((most) => answerOf(filling, most)),
  );
  for (const answer of answers) mocks.fail({ ...answer, operation: 'token', times: 1 });
  const url = await program.serving();
  await until('all of them to have been read', () => asked(mocks, 'token') > answers.length);
  await until('everything to be well', () => isWell(url));
  expectAlive(program);
});

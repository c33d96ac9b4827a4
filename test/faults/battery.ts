import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canCertify } from '../support/certificates.ts';
import { hugeRetryAfter } from './effects.ts';
import { Instance, type Setup } from './instance.ts';
import { type Expected, holdsOn, type OperationName, play } from './row.ts';
import { rowsOf } from './rows.ts';

/**
 * The longest that a row may take, in milliseconds: several times what it takes on an idle machine. A row that fails is
 * played again on a new instance, for on a busy machine the services behind the fronts are late too.
 */
const PATIENCE = { timeout: 90_000, retry: 2 };

/** Registers every row of an operation as a test of its own, several at once, each on a process of its own. */
export function battery(operation: OperationName): void {
  const idle: { readonly setup: Setup; readonly instance: Instance }[] = [];
  // One at a time: a start is work, and what runs beside it is to keep its pace.
  let starting: Promise<unknown> = Promise.resolve();
  const started = (setup: Setup): Promise<Instance> => {
    const start = starting.then(() => Instance.start(setup));
    starting = start.catch(() => {});
    return start;
  };
  const followed: string[] = [];
  const elsewhere = createServer((asked, answer) => {
    followed.push(`${asked.method} ${asked.url}`);
    answer.end('{"items":[]}');
  });
  let port = 0;
  beforeAll(async () => {
    await new Promise<void>((resolve) => {
      elsewhere.listen(0, '127.0.0.1', resolve);
    });
    ({ port } = elsewhere.address() as AddressInfo);
  });
  afterAll(async () => {
    elsewhere.close();
    await Promise.all(idle.map(({ instance }) => instance.close()));
    expect(followed, 'redirects that were followed').toEqual([]);
  });

  /** Runs on an instance that nobody else uses. One on which a row failed, or that is to be thrown away, is not used again. */
  async function on(setup: Setup, use: (instance: Instance) => Promise<void>, isReusable = true): Promise<void> {
    const index = idle.findIndex((one) => isDeepStrictEqual(one.setup, setup));
    const instance = (index === -1 ? undefined : idle.splice(index, 1)[0]?.instance) ?? (await started(setup));
    try {
      await use(instance);
    } catch (error) {
      await instance.close();
      throw error;
    }
    if (isReusable) idle.push({ setup, instance });
    else await instance.close();
  }

  describe.concurrent(`${operation}, met with`, () => {
    const rows = rowsOf(operation, () => `http://127.0.0.1:${port}/elsewhere`);
    const isHere = canCertify();
    for (const { row, setup } of rows) {
      const skip = setup.reach === 'tls' && !isHere && process.env.REQUIRE_TLS_CLIENTS !== '1';
      const name = `${row.fault}: ${told(row.expected)}`;
      test.skipIf(skip)(name, PATIENCE, () => on(setup, (instance) => play(row, instance)));
    }
    const [{ setup } = { setup: undefined }] = rows;
    if (setup === undefined) return;
    const name = `${hugeRetryAfter.name}: counted as 429, nothing is sent meanwhile and the other service keeps its pace`;
    test(name, PATIENCE, () => on(setup, (instance) => holdsOn(operation, hugeRetryAfter, instance), false));
  });
}

/** What a row expects, in words. */
export function told({ code, dropped, resting, lines, withinSeconds }: Expected): string {
  const counted = [
    `counted as ${code}`,
    ...(dropped ? [`dropped as ${dropped}`] : []),
    ...(resting ? [`rests as ${resting}`] : []),
  ];
  const said = lines === undefined ? 'no change to log' : `“${lines[0]}” once`;
  return `${counted.join(', ')}; ${said}; over within ${withinSeconds} s`;
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canCertify } from '../support/certificates.ts';
import { hugeRetryAfter } from './effects.ts';
import type { Setup } from './instance.ts';
import { Lateness } from './lateness.ts';
import { holdsOn, play, type Stage } from './play.ts';
import { Pool } from './pool.ts';
import { type OperationName, told } from './row.ts';
import { rowsOf } from './rows.ts';

/** The longest that a row may take, in milliseconds: several times what it takes on an idle machine. */
const PATIENCE = { timeout: 150_000 };

/** The long part of the battery, of `npm run explore`: troubles that last for many intervals. */
const IS_LASTING = process.env.LASTING_FAULTS === '1';

/** A row that fails is played again only where the machine was late by so much meanwhile, in milliseconds … */
const LATE_MS = 1_000;

/** … and so many of a file at most: else it is not the machine. */
const MAX_AGAIN = 3;

/** Registers every row of an operation as a test of its own, several at once, each on a process of its own. */
export function battery(operation: OperationName): void {
  const lateness = new Lateness();
  const rows = rowsOf(operation, IS_LASTING, () => `http://127.0.0.1:${port}/elsewhere`);
  const pool = new Pool(rows);
  /** The rows that were played again, each with how late the machine was. */
  const again: string[] = [];
  let played = 0;
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
    lateness.stop();
    await pool.close();
    const late = `the machine was late by ${Math.round(lateness.longestMs)} ms at most`;
    const repeated = again.map((row) => `\n  again: ${row}`).join('');
    process.stdout.write(`faults of ${operation}: ${played} rows, ${again.length} played again, ${late}${repeated}\n`);
    expect(followed, 'redirects that were followed').toEqual([]);
  });

  /** Plays a row, and once more where it failed and the machine was so late that this says nothing. */
  async function row(name: string, setup: Setup, use: (stage: Stage) => Promise<void>, isReusable: boolean) {
    played += 1;
    const begunAt = performance.now();
    const once = () => pool.on(setup, (instance) => use({ setup, instance, lateness }), isReusable);
    try {
      await once();
    } catch (error) {
      const lateMs = lateness.between(begunAt, performance.now());
      if (lateMs < LATE_MS || again.length === MAX_AGAIN) throw error;
      again.push(`${name} (${Math.round(lateMs)} ms late): ${String(error)}`);
      await once();
    }
  }

  describe.concurrent(`${operation}, met with`, () => {
    const isHere = canCertify();
    for (const placed of rows) {
      const { setup, isHeld } = placed;
      const skip = setup.reach === 'tls' && !isHere && process.env.REQUIRE_TLS_CLIENTS !== '1';
      const name = told(placed.row);
      test.skipIf(skip)(name, PATIENCE, () => row(name, setup, (stage) => play(placed.row, stage), !isHeld));
    }
    const setup = rows.find(({ isHeld }) => isHeld)?.setup;
    if (setup === undefined || IS_LASTING) return;
    const name = `${hugeRetryAfter.name}: counted as 429, nothing is sent meanwhile and the other service keeps its pace`;
    test(name, PATIENCE, () => row(name, setup, (stage) => holdsOn(operation, hugeRetryAfter, stage), false));
  });
}

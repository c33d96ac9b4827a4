import { afterAll, beforeAll, describe, test } from 'vitest';
import { type MockServices, startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { hasTlsClients } from '../web/certificates.ts';
import type { Attacker, Row } from './row.ts';
import { staged } from './stage.ts';

/** Enough for a status page that is worth flooding for. */
const APPLIANCES = 60;

/** Registers every row of an attacker as a test, each on a process of its own. */
export function battery(who: Attacker, rows: readonly Row[]): void {
  const measured: string[] = [];
  let mocks: MockServices | undefined;
  beforeAll(async () => {
    const variations = { rateLimit: null, dailyLimit: null };
    mocks = await startMockServices({ clock: systemClock, appliances: APPLIANCES, volumes: 4, variations });
  });
  afterAll(async () => {
    await mocks?.close();
    process.stdout.write(`attacks of a ${who}: ${measured.join('; ')}\n`);
  });

  describe(`what a ${who} tries`, () => {
    for (const row of rows) {
      const needsClients = 'setup' in row && (row.needsClients === true || row.setup.web?.startsWith('tls'));
      const name = `[${row.id}] ${row.tries}: ${row.holds}`;
      if ('begin' in row) {
        test.skipIf(row.needsCertificates === true && !hasTlsClients)(name, row.begin);
        continue;
      }
      test.skipIf(needsClients && !hasTlsClients)(name, async () => {
        if (mocks === undefined) throw new Error('there is no service');
        const stage = await staged(row.setup, mocks);
        await row.play(stage);
        if (stage.hasEnded) return;
        stage.expectAlive();
        const scrape = `next scrape in ${Math.round(stage.longestScrapeMs)} ms`;
        measured.push(`${row.id} ${Math.round(stage.peakMib())} MiB, ${scrape}`);
      });
    }
  });
}

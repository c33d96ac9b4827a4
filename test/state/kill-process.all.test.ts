import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startStandIn } from '../../src/demo/stand-in.ts';
import { seededRandom } from '../../src/runtime/random.ts';
import { type Line, linesOf } from '../support/exposition-lines.ts';
import { fastClock } from '../support/fast-clock.ts';
import { end, launch, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';

/** How many times the process is killed; `KILLS=200` takes some minutes. */
const KILLS = Number(process.env.KILLS ?? 10);

/** An hour of the service's time passes in a minute. */
const SPEED = 60;

/** The counters of lock and propagation events, by series. */
function countersOf(text: string): ReadonlyMap<string, number> {
  const isEvent = ({ name }: Line) => /^filer_(?:lock|propagation)_.*_(?:total|count|sum)$/.test(name);
  return new Map(
    linesOf(text)
      .filter(isEvent)
      .map(({ name, labels, value }) => [name + JSON.stringify(labels), Number(value)]),
  );
}

/** How many lock events an exposition has counted. */
function lockEvents(counters: ReadonlyMap<string, number>): number {
  return [...counters].reduce((sum, [name, value]) => (name.startsWith('filer_lock_events') ? sum + value : sum), 0);
}

test(
  `the process, killed ${KILLS} times with kill -9: no counter that a scrape has seen ever falls, nor passes the truth`,
  async () => {
    const standIn = await startStandIn({ clock: fastClock(SPEED), appliances: 12, volumes: 5 });
    const directory = temporaryDirectory();
    const file = join(directory, 'state');
    const environment = {
      GFA_URL: standIn.gfaUrl,
      GFA_TOKEN: standIn.credentials.gfaToken,
      GFA_INTERVAL: '1s',
      STALE_AFTER: '30',
      STATE_FILE: file,
      LOG_LEVEL: 'info',
    };
    const random = seededRandom(3);
    let seen: ReadonlyMap<string, number> = new Map();
    let scrapes = 0;
    try {
      for (let kills = 0; kills < KILLS; kills += 1) {
        const program = launch([], { environment, directory });
        try {
          const url = await program.serving();
          const killAt = performance.now() + random() * 1_500;
          // The last one lives until enough has been seen, however slow the machine is.
          while (performance.now() < killAt || (kills === KILLS - 1 && scrapes <= KILLS)) {
            const text = await (await fetch(`${url}/metrics`)).text();
            const now = countersOf(text);
            if (now.size === 0) continue;
            scrapes += 1;
            for (const [series, value] of seen) expect(now.get(series) ?? 0, series).toBeGreaterThanOrEqual(value);
            seen = now;
            await sleep(random() * 60);
          }
        } finally {
          await end(program);
        }
        expect(program.stdout).not.toContain('cannot be used');
      }
      expect(scrapes).toBeGreaterThan(KILLS);
      expect(existsSync(file)).toBe(true);
      expect(readdirSync(directory).filter((name) => name.includes('damaged'))).toEqual([]);
      // A client of its own, to whom the service tells its whole history.
      standIn.vary({ freshHistoryMs: 86_400_000 });
      const last = launch([], {
        environment: { ...environment, GFA_CLIENT_KEY: 'historian', STATE_FILE: '' },
        directory,
      });
      try {
        const url = await last.serving();
        const truth = await until('the whole history', async () => {
          const counters = countersOf(await (await fetch(`${url}/metrics`)).text());
          return counters.size > 0 && counters;
        });
        for (const [series, value] of seen) expect(truth.get(series) ?? 0, series).toBeGreaterThanOrEqual(value);
        expect(lockEvents(seen)).toBeGreaterThan(100);
      } finally {
        await end(last);
      }
    } finally {
      await standIn.close();
    }
  },
  60_000 + KILLS * 5_000,
);

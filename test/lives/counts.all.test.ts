// Only here: a count that falls or jumps in the answers of days.
import type { JsonObject } from '../../src/metrics/family.ts';
import { parts, shortened } from '../harness/bodies.ts';
import { HOUR, MINUTE } from '../harness/world.ts';
import { type Story, tell } from './story.ts';

const DATA = /\/gfa\/v1\/data/;
const begins = { gfa: true, portal: false } as const;
const UP = 'gfa up, 3 filers';

/** What happens once and is counted once, however it is delivered. */
const counts: readonly Story[] = [
  {
    name: 'a service that begins to deliver everything again and again',
    begins,
    tells: async (life) => {
      await life.passes(30 * MINUTE);
      const over = life.varies({ delivery: 'full' }, { scope: { path: /never/ } });
      await life.passes(30 * MINUTE);
      const during = await life.after(30 * MINUTE);
      over();
      life.expects([during, await life.after(30 * MINUTE)], [UP, UP]);
    },
  },
  {
    name: 'answers in several parts, then in one, with fields left out',
    begins: { ...begins, variations: { metricsShape: 'split' } },
    tells: async (life) => {
      await life.passes(30 * MINUTE);
      life.varies({ metricsShape: 'object', omitOptional: true, switchedOff: 'missing' }, { scope: { path: /never/ } });
      life.expects([await life.after(HOUR)], [UP]);
    },
  },
  {
    name: 'events that come an hour late are counted all the same',
    begins,
    tells: async (life) => {
      const held: JsonObject[] = [];
      await life.passes(20 * MINUTE);
      const holds = life.edits({
        path: DATA,
        change: (body) =>
          parts(body, (part) => {
            held.push(...(part.locks as JsonObject[]));
            return { ...part, locks: [] };
          }),
      });
      const before = (await life.passes(HOUR)).scrape.sum('filer_lock_events_total');
      holds();
      const late = held.splice(0);
      life.edits({
        path: DATA,
        change: (body) =>
          parts(body, (part) => ({ ...part, locks: [...(part.locks as JsonObject[]), ...late.splice(0)] })),
      });
      const { scrape } = await life.passes(10 * MINUTE);
      life.expects([scrape.sum('filer_lock_events_total') > before + 20], [true]);
    },
  },
  {
    name: 'a renamed volume goes on counting under its new name',
    begins,
    tells: async (life) => {
      await life.passes(30 * MINUTE);
      life.act();
      life.services.renameVolume(life.services.fleet.volumes[0]?.guid ?? '', 'the new name');
      const { scrape } = await life.passes(30 * MINUTE);
      life.expects([scrape.all('filer_lock_events_total', { volume: 'the new name' }).length > 0], [true]);
    },
  },
  {
    name: 'answers that are cut in the middle every third time',
    begins,
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      for (let time = 0; time < 10; time += 1) {
        life.fails({ operation: 'data', kind: 'cut', times: 1 });
        life.expects([await life.after(3 * MINUTE)], [UP]);
      }
    },
  },
  {
    name: 'a state file that cannot be written for an hour',
    begins: { ...begins },
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      life.act();
      life.disk.fault = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      const during = await life.after(HOUR);
      life.disk.fault = undefined;
      life.act();
      await life.passes(5 * MINUTE);
      life.expects([during, await life.after(20 * MINUTE)], [UP, UP]);
    },
  },
  ...[0, 0.5].map(
    (share): Story => ({
      name: `lists of jobs, notifications and volumes that are ${share === 0 ? 'empty' : 'half'} for ten minutes`,
      begins: { environment: { PORTAL_COLLECTORS: 'telemetry,jobs,notifications,volumes,volume_telemetry=5m' } },
      tells: async (life) => {
        await life.passes(40 * MINUTE);
        const calm = life.edits({
          path: /\/portal\/(?:jobs|notifications|volume_connections)/,
          change: (body) => shortened(body, share),
        });
        const during = await life.after(10 * MINUTE);
        calm();
        life.expects([during, await life.after(30 * MINUTE)], Array(2).fill('portal up, 3 reporting, 9 series'));
      },
    }),
  ),
];

tell(counts);

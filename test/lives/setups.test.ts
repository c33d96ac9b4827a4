// Only here: settings that few have, in hours of use.
import { shardOf } from '../../src/services/portal/appliances/shard.ts';
import { HOUR, MINUTE } from '../harness/world.ts';
import { type Story, tell } from './story.ts';

/** The first appliance of the mock services' fleet. */
const SERIAL = 'a4b6a8a4-08a8-4578-abec-b4b33b42c198';

/** What operators configure or are given: names of their own, shards, tokens with odd lifetimes. */
const setups: readonly Story[] = [
  {
    name: 'a filer with a name of the operator’s own keeps it, and its counts, when the portal renames it',
    begins: { gfa: true, environment: { FILER_ALIASES: `${SERIAL}=head office` } },
    tells: async (life) => {
      await life.passes(30 * MINUTE);
      life.act();
      life.services.renameAppliance(SERIAL, 'edge of the world');
      const { scrape } = await life.passes(30 * MINUTE);
      const own = scrape.samples.filter(({ labels }) => labels.serial === SERIAL || labels.filer_guid === SERIAL);
      const names = new Set(own.map(({ labels }) => labels.filer));
      const counted = scrape.all('filer_lock_events_total', { filer: 'head office' });
      life.expects([[...names].join(), counted.length > 0], ['head office', true]);
    },
  },
  ...[0, 1].map(
    (shard): Story => ({
      name: `shard ${shard} of two polls its own appliances, through an outage of the portal`,
      begins: { appliances: 6, environment: { SHARD: String(shard), TOTAL_SHARDS: '2' } },
      tells: async (life) => {
        const own = life.serials.filter((serial) => shardOf(serial, 2) === shard);
        life.judge.forgives = ({ serial = '' }) => !own.includes(serial);
        await life.passes(20 * MINUTE);
        const over = life.fails({ operation: /^(?!data$)/, kind: 'status', status: 503 });
        await life.passes(20 * MINUTE);
        const during = await life.after(10 * MINUTE);
        over();
        const after = await life.passes(20 * MINUTE);
        const up = after.scrape.all('filer_appliance_up').map(({ labels }) => labels.serial);
        life.expects([during, up.sort().join()], [/^portal down \(server_error\)/, own.sort().join()]);
      },
    }),
  ),
  {
    name: 'tokens that say that they live for ever are renewed each day',
    begins: {
      appliances: 1,
      series: ['cpu_utilization'],
      lookMs: HOUR,
      environment: { PORTAL_INTERVAL: '1h', PORTAL_DISCOVERY_INTERVAL: '1h', PORTAL_COLLECTORS: 'telemetry' },
      variations: { tokenLifetimeMs: Number.MAX_VALUE, expiresIn: null, jwt: 'exp' },
    },
    tells: async (life) => {
      await life.passes(HOUR);
      await life.passes(HOUR);
      const before = life.sent.count(/auth\/token$/);
      await life.passes(49 * HOUR);
      life.expects([life.sent.count(/auth\/token$/) - before], [2]);
    },
  },
];

tell(setups);

// Only here: what hours of appliances that come, go and are off do to the others.
import { DAY, HOUR, MINUTE } from '../harness/world.ts';
import { type Story, tell, trouble } from './story.ts';

const unavailable = { kind: 'status', status: 503 } as const;

/** Appliances that are off, come, go and are renamed. */
const fleet: readonly Story[] = [
  {
    name: 'a night in which half the fleet is off',
    begins: { appliances: 4, lookMs: 5 * MINUTE },
    tells: async (life) => {
      await life.passes(HOUR);
      const on = life.off(...life.serials.slice(0, 2));
      await life.passes(HOUR);
      const night = await life.after(2 * HOUR);
      on();
      const morning = await life.after(6 * MINUTE);
      life.expects([night, morning], [/portal up, 2 no records, 2 reporting/, 'portal up, 4 reporting, 12 series']);
    },
  },
  {
    name: 'a day in which every appliance is off',
    begins: { appliances: 2, series: ['cpu_utilization', 'load_average'], lookMs: 30 * MINUTE },
    tells: async (life) => {
      await life.passes(HOUR);
      const on = life.off();
      await life.passes(HOUR);
      const during = await life.after(DAY);
      on();
      life.expects(
        [during, await life.after(6 * MINUTE)],
        [/portal up, 2 no records/, 'portal up, 2 reporting, 4 series'],
      );
    },
  },
  trouble({
    name: 'one appliance hangs for four hours, and the others know nothing of it',
    begins: { lookMs: 5 * MINUTE },
    ms: 4 * HOUR,
    begin: (life) => life.fails({ serial: life.serials[0] ?? '', kind: 'hang' }),
    during: 'portal up, 2 reporting, 1 unavailable, 6 series',
    after: 'portal up, 3 reporting, 9 series',
  }),
  {
    name: 'a rolling update, in which one appliance after the other is away for ten minutes',
    begins: { appliances: 4 },
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      for (const serial of life.serials) {
        const over = life.fails({ serial, kind: 'hang' });
        await life.passes(10 * MINUTE);
        over();
        await life.passes(5 * MINUTE);
      }
      life.expects([await life.after(15 * MINUTE)], ['portal up, 4 reporting, 12 series']);
    },
  },
  {
    name: 'an appliance that is off for ten minutes and on for ten changes its state each time and no more often',
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      const [serial = ''] = life.serials;
      for (let time = 0; time < 4; time += 1) {
        const on = life.off(serial);
        await life.passes(10 * MINUTE);
        on();
        await life.passes(10 * MINUTE);
      }
      life.expects([await life.after(6 * MINUTE)], ['portal up, 3 reporting, 9 series']);
    },
  },
  {
    name: 'a renamed appliance goes on under its new name, and its counts do not begin again',
    begins: { gfa: true },
    tells: async (life) => {
      await life.passes(30 * MINUTE);
      const [serial = ''] = life.serials;
      life.act();
      life.services.renameAppliance(serial, 'edge of the world');
      const { scrape } = await life.passes(30 * MINUTE);
      const named = { filer: 'edge of the world' };
      const names = new Set(
        scrape.samples.filter(({ labels }) => labels.serial === serial).map(({ labels }) => labels.filer),
      );
      life.expects([[...names].join(), scrape.all('filer_lock_events_total', named).length > 0], [named.filer, true]);
    },
  },
  {
    name: 'a replaced appliance: the old one goes, the new one has its plain name from the first moment',
    begins: { gfa: true, lookMs: MINUTE },
    tells: async (life) => {
      await life.passes(30 * MINUTE);
      const [serial = ''] = life.serials;
      const name = life.services.fleet.appliances[0]?.title ?? '';
      life.judge.forgives = (labels) => labels.serial === serial || labels.filer_guid === serial;
      life.act();
      life.services.removeAppliance(serial);
      const added = life.services.addAppliance();
      life.services.renameAppliance(added.serial, name);
      const names = new Set<string>();
      let up: readonly (string | undefined)[] = [];
      for (let minute = 0; minute < 50; minute += 1) {
        const { scrape } = await life.passes(MINUTE);
        for (const { labels } of scrape.all(/^filer_appliance/, { serial: added.serial }))
          names.add(labels.filer ?? '');
        up = scrape.all('filer_appliance_up').map(({ labels }) => labels.serial);
      }
      life.expects([[...names], up.includes(serial), up.length], [[name], false, 3]);
    },
  },
  {
    name: 'five appliances that join at once are there with the next list',
    begins: { appliances: 2 },
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      life.act();
      for (let index = 0; index < 5; index += 1) life.services.addAppliance();
      life.expects([await life.after(40 * MINUTE)], ['portal up, 7 reporting, 21 series']);
    },
  },
  {
    name: 'half the fleet is decommissioned',
    begins: { appliances: 6 },
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      const gone = new Set(life.serials.slice(0, 3));
      life.judge.forgives = ({ serial = '' }) => gone.has(serial);
      life.act();
      for (const serial of gone) life.services.removeAppliance(serial);
      const after = await life.after(40 * MINUTE);
      const { text } = await life.page('/status');
      const mentioned = [...gone].filter((serial) => text.includes(serial));
      life.expects([after, mentioned], ['portal up, 3 reporting, 9 series', []]);
    },
  },
  {
    name: 'an appliance that joins while the portal is down is there after it',
    begins: { appliances: 2 },
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      const over = life.fails({ operation: /^(?!data$)/, ...unavailable });
      await life.passes(20 * MINUTE);
      life.services.addAppliance();
      await life.passes(10 * MINUTE);
      over();
      life.expects([await life.after(40 * MINUTE)], ['portal up, 3 reporting, 9 series']);
    },
  },
  {
    name: 'lists of appliances that are halved every other time take nothing away',
    begins: { appliances: 4, lookMs: 5 * MINUTE },
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      let lists = 0;
      life.edits({
        path: /\/serials/,
        change: (body, { path }) => {
          if (path.includes('type=edge')) lists += 1;
          const { items } = body as { readonly items: readonly unknown[] };
          return lists % 2 === 1 ? { items: items.slice(0, items.length / 2) } : body;
        },
      });
      const seen = await life.after(3 * HOUR);
      life.expects([seen, await life.after(30 * MINUTE)], Array(2).fill('portal up, 4 reporting, 12 series'));
    },
  },
  {
    name: 'a half list of appliances at the start is made whole by the next one',
    begins: { appliances: 4, later: true },
    tells: async (life) => {
      let isHalf = true;
      life.edits({
        path: /\/serials|\/edges/,
        change: (body) => {
          const { items } = body as { readonly items: readonly unknown[] };
          return isHalf ? { ...(body as object), items: items.slice(0, items.length / 2) } : body;
        },
      });
      await life.starts();
      const first = await life.after(5 * MINUTE);
      isHalf = false;
      life.expects(
        [first, await life.after(20 * MINUTE)],
        [/portal up, 2 reporting/, 'portal up, 4 reporting, 12 series'],
      );
    },
  },
];

tell(fleet);

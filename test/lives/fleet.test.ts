// Only here: what hours of appliances that come, go and are off do to the others.
import { HOUR, MINUTE } from '../harness/world.ts';
import { type Story, tell } from './story.ts';

/** Appliances that are off, come, go and are renamed. */
const fleet: readonly Story[] = [
  {
    name: 'two hours in which half the fleet is off',
    begins: { appliances: 4 },
    tells: async (life) => {
      await life.passes(10 * MINUTE);
      const on = life.off(...life.serials.slice(0, 2));
      const during = await life.after(2 * HOUR);
      on();
      const after = await life.after(6 * MINUTE);
      life.expects([during, after], [/portal up, 2 no records, 2 reporting/, 'portal up, 4 reporting, 12 series']);
    },
  },
  {
    name: 'an appliance that is off for ten minutes and on for ten changes its state each time and no more often',
    tells: async (life) => {
      await life.passes(10 * MINUTE);
      const [serial = ''] = life.serials;
      for (let time = 0; time < 2; time += 1) {
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
      await life.passes(20 * MINUTE);
      const [serial = ''] = life.serials;
      life.act();
      life.services.renameAppliance(serial, 'edge of the world');
      const { scrape } = await life.passes(25 * MINUTE);
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
      await life.passes(10 * MINUTE);
      const [serial = ''] = life.serials;
      const name = life.services.fleet.appliances[0]?.title ?? '';
      life.judge.forgives = (labels) => labels.serial === serial || labels.filer_guid === serial;
      life.act();
      life.services.removeAppliance(serial);
      const added = life.services.addAppliance();
      life.services.renameAppliance(added.serial, name);
      const names = new Set<string>();
      let up: readonly (string | undefined)[] = [];
      for (let minute = 0; minute < 40; minute += 1) {
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
      await life.passes(10 * MINUTE);
      life.act();
      for (let index = 0; index < 5; index += 1) life.services.addAppliance();
      life.expects([await life.after(40 * MINUTE)], ['portal up, 7 reporting, 21 series']);
    },
  },
  {
    name: 'half the fleet is decommissioned',
    begins: { appliances: 6 },
    tells: async (life) => {
      await life.passes(10 * MINUTE);
      const gone = new Set(life.serials.slice(0, 3));
      life.judge.forgives = ({ serial = '' }) => gone.has(serial);
      life.act();
      for (const serial of gone) life.services.removeAppliance(serial);
      const after = await life.after(40 * MINUTE);
      const { text } = await life.page('/status');
      const mentioned = [...gone].filter((serial) => text.includes(serial) || life.last.includes(serial));
      life.expects([after, mentioned], ['portal up, 3 reporting, 9 series', []]);
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

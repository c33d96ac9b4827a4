// Only here: what hours of appliances that come, go and are off do to the others.
import { MINUTE } from '../harness/world.ts';
import { type Story, tell } from './story.ts';

/** Appliances that are off, come, go and are renamed. */
const fleet: readonly Story[] = [
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
];

tell(fleet);

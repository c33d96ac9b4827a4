import { type Dashboard, dashboard } from '../dashboard.ts';
import { indexPanels, softwarePanels } from './inventory.ts';
import { keyPanels } from './keys.ts';
import { licencePanels } from './licence.ts';
import { workPanels } from './work.ts';

/** The account in the portal: licence, jobs, notifications, keys, indexes, stacks. */
export function account(): Dashboard {
  return dashboard({
    place: 'account',
    description:
      'The account in the portal: licence, jobs, notifications, keys, indexes, stacks and software. A section is empty while its collector is off.',
    reach: '24h',
    variables: ['job', 'filer', 'volume', 'window'],
    sections: [
      { title: 'Licence', panels: licencePanels },
      { title: 'Jobs and notifications', panels: workPanels },
      { title: 'Users, keys and credentials', collapsed: true, panels: keyPanels },
      { title: 'Indexes', collapsed: true, panels: indexPanels },
      { title: 'Stacks and software', collapsed: true, panels: softwarePanels },
    ],
  });
}

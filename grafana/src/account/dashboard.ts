import { type Dashboard, dashboard } from '../dashboard.ts';
import { indexPanels, softwarePanels } from './inventory.ts';
import { keyPanels } from './keys.ts';
import { accountPanels, licencePanels } from './licence.ts';
import { workPanels } from './work.ts';

/** The account in the portal: licence, jobs, notifications, keys, indexes, stacks. */
export function account(): Dashboard {
  return dashboard({
    place: 'account',
    description:
      'The account in the portal: licence, jobs, notifications, keys, indexes, stacks and software. A section is empty while its collector is off.',
    reach: '24h',
    variables: ['job', 'filer', 'volume', 'window', 'runbooks'],
    sections: [
      { title: 'What is broken, and what runs out', panels: licencePanels },
      { title: 'Jobs and notifications', panels: workPanels },
      { title: 'The account and its licence', collapsed: true, panels: accountPanels },
      { title: 'Users, keys and credentials', collapsed: true, panels: keyPanels },
      { title: 'Indexes', collapsed: true, panels: indexPanels },
      { title: 'Stacks and software', collapsed: true, panels: softwarePanels },
    ],
  });
}

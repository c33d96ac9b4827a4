import { type Dashboard, dashboard } from '../dashboard.ts';
import { growthPanels } from './growth.ts';
import { accountPanels, licencePanels } from './licence.ts';
import { workPanels } from './work.ts';

/** The account in the portal: licence, jobs, notifications. */
export function account(): Dashboard {
  return dashboard({
    place: 'account',
    description:
      'The account in the portal: licence, jobs and notifications. A section is empty while its collector is off.',
    reach: '24h',
    variables: ['job', 'window'],
    sections: [
      { title: 'What is broken, and what runs out', panels: licencePanels },
      { title: 'Jobs and notifications', panels: workPanels },
      { title: 'Growth', collapsed: true, panels: growthPanels },
      { title: 'The account and its licence', collapsed: true, panels: accountPanels },
    ],
  });
}

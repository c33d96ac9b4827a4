import type { Dashboard } from '../dashboard.ts';
import { dashboard } from '../dashboard.ts';
import { agePanels, diskPanels, networkPanels } from './disks.ts';
import { identityPanels, kindPanels, lastKnownPanel } from './identity.ts';
import { cachePanels, glancePanels, loadPanels, minutePanels } from './load.ts';
import { portalPanels } from './portal.ts';

/** One appliance in detail. */
export function appliance(): Dashboard {
  return dashboard({
    place: 'appliance',
    description: 'One appliance in detail: choose it at the top.',
    reach: '6h',
    variables: ['job', 'appliance', 'volume'],
    sections: [
      { title: 'What is broken on it, and since when', panels: [...identityPanels, ...glancePanels, lastKnownPanel] },
      { title: 'Processors and memory', panels: loadPanels },
      { title: 'Every minute', collapsed: true, panels: minutePanels },
      { title: 'Cache', panels: cachePanels },
      {
        title: 'The appliance, and what the portal knows of it',
        collapsed: true,
        panels: [...kindPanels, ...portalPanels],
      },
      { title: 'Disks', collapsed: true, panels: diskPanels },
      { title: 'Network and users', collapsed: true, panels: networkPanels },
      { title: 'Time since the last successful poll', collapsed: true, panels: agePanels },
    ],
  });
}

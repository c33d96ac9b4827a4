import type { Dashboard } from '../dashboard.ts';
import { dashboard } from '../dashboard.ts';
import { agePanels, diskPanels, networkPanels } from './disks.ts';
import { identityPanels } from './identity.ts';
import { cachePanels, loadPanels } from './load.ts';
import { portalPanels } from './portal.ts';

/** One appliance in detail. */
export function appliance(): Dashboard {
  return dashboard({
    place: 'appliance',
    description: 'One appliance in detail: choose it at the top.',
    reach: '6h',
    variables: ['job', 'appliance', 'volume'],
    sections: [
      { title: 'The appliance', panels: identityPanels },
      { title: 'As the portal knows it', panels: portalPanels },
      { title: 'Processors and memory', panels: loadPanels },
      { title: 'Cache', panels: cachePanels },
      { title: 'Disks', collapsed: true, panels: diskPanels },
      { title: 'Network and users', panels: networkPanels },
      { title: 'Age of the data', collapsed: true, panels: agePanels },
    ],
  });
}

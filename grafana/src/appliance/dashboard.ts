import type { Dashboard } from '../dashboard.ts';
import { dashboard } from '../dashboard.ts';
import { agePanels, diskPanels, networkPanels } from './disks.ts';
import { identityPanels } from './identity.ts';
import { cachePanels, loadPanels } from './load.ts';
import { portalPanels } from './portal.ts';

/** One appliance in detail; "All" puts all of them side by side, each legend with its filer. */
export function appliance(): Dashboard {
  return dashboard({
    place: 'appliance',
    description: 'One appliance in detail: choose it at the top. With several chosen, each series says whose it is.',
    reach: '6h',
    variables: ['job', 'filer', 'volume'],
    sections: [
      { title: 'The appliance', panels: identityPanels },
      { title: 'As the portal knows it', panels: portalPanels },
      { title: 'Processors and memory', panels: loadPanels },
      { title: 'Cache', panels: cachePanels },
      { title: 'Disks', panels: diskPanels },
      { title: 'Network and users', panels: networkPanels },
      { title: 'Age of the data', panels: agePanels },
    ],
  });
}

import { type Dashboard, dashboard } from '../dashboard.ts';
import { accelerationPanels } from './acceleration.ts';
import { alertTable } from './alerts.ts';
import { appliancePanels } from './appliances.ts';
import { healthPanels } from './health.ts';
import { nowPanels } from './now.ts';
import { portalPanels } from './portal.ts';

/** The account at a glance. */
export function overview(): Dashboard {
  return dashboard({
    place: 'overview',
    description: 'The account at a glance: what needs a look, and where to look next.',
    reach: '6h',
    variables: ['job', 'filer', 'volume', 'window'],
    sections: [
      { title: 'What is broken, where, and since when', panels: [...nowPanels, alertTable, ...healthPanels] },
      { title: 'File acceleration', panels: accelerationPanels },
      { title: 'The portal', panels: portalPanels },
      { title: 'Appliances', panels: appliancePanels },
    ],
  });
}

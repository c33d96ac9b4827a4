import { alertTable } from '../alerts/table.ts';
import { type Dashboard, dashboard } from '../dashboard.ts';
import { accelerationPanels } from './acceleration.ts';
import { appliancePanels } from './appliances.ts';
import { healthPanels } from './health.ts';
import { nowPanels } from './now.ts';
import { portalPanels } from './portal.ts';

const alerts = alertTable({
  title: 'What is broken',
  about: {},
  scope: { filer: 'with account', volume: 'with account' },
  height: 8,
});

/** The account at a glance. */
export function overview(): Dashboard {
  return dashboard({
    place: 'overview',
    description: 'The account at a glance: what needs a look, and where to look next.',
    reach: '6h',
    variables: ['job', 'filer', 'volume', 'runbooks'],
    sections: [
      { title: 'What is broken, where, and since when', panels: [...nowPanels, alerts, ...healthPanels] },
      { title: 'File acceleration', panels: accelerationPanels },
      { title: 'The portal', collapsed: true, panels: portalPanels },
      { title: 'Appliances', collapsed: true, panels: appliancePanels },
    ],
  });
}

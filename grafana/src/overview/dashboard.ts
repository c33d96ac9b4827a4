import { alertTable } from '../alerts/table.ts';
import { type Dashboard, dashboard } from '../dashboard.ts';
import { healthPanels } from './health.ts';
import { nowPanels } from './now.ts';
import { trendPanels } from './trends.ts';

const alerts = alertTable({
  title: 'What is broken',
  about: {},
  scope: { filer: 'with account', volume: 'with account' },
  height: 8,
});

/** The dashboard that shows the whole account. */
export function overview(): Dashboard {
  return dashboard({
    place: 'overview',
    description: 'The whole account: what needs attention, and where to read more.',
    reach: '6h',
    variables: ['job', 'filer', 'worstFilers', 'volume'],
    sections: [
      { title: 'What is broken, where, and since when', panels: [...nowPanels, alerts, ...healthPanels] },
      { title: 'Over time', panels: trendPanels },
    ],
  });
}

import { type Dashboard, dashboard } from '../dashboard.ts';
import { connectionPanels } from './connections.ts';
import { finishedPanels, newestPanels } from './finished.ts';
import { protectionPanels, trendPanels } from './protection.ts';

/** Volumes in the portal: what is not protected, their snapshots, their connections. */
export function snapshots(): Dashboard {
  return dashboard({
    place: 'snapshots',
    description:
      'Volumes in the portal: unprotected data, snapshots and their results, connections. Needs the collectors volumes and volume_telemetry.',
    reach: '24h',
    variables: ['job', 'filer', 'volume', 'window', 'runbooks'],
    sections: [
      { title: 'What is not protected, where, and since when', panels: protectionPanels },
      { title: 'Over time', panels: trendPanels },
      { title: 'Snapshots finished', collapsed: true, panels: finishedPanels },
      { title: 'The newest snapshots', collapsed: true, panels: newestPanels },
      { title: 'Connections', collapsed: true, panels: connectionPanels },
    ],
  });
}

import { type Dashboard, dashboard } from '../dashboard.ts';
import { finishedPanels, newestPanels } from './finished.ts';
import { connectionPanels, protectionPanels } from './protection.ts';

/** What the portal tells of volumes: what is not protected, their snapshots, their connections. */
export function snapshots(): Dashboard {
  return dashboard({
    place: 'snapshots',
    description:
      'What the portal tells of volumes: unprotected data, snapshots and how they do, connections. Needs the collectors volumes and volume_telemetry.',
    reach: '24h',
    variables: ['job', 'filer', 'volume', 'window'],
    sections: [
      { title: 'What is not protected', panels: protectionPanels },
      { title: 'Snapshots finished', panels: finishedPanels },
      { title: 'The newest snapshots', collapsed: true, panels: newestPanels },
      { title: 'Connections', collapsed: true, panels: connectionPanels },
    ],
  });
}

import type { Dashboard } from '../dashboard.ts';
import { dashboard } from '../dashboard.ts';
import { checkInPanels } from './check-ins.ts';
import { connectionPanels } from './connections.ts';
import { finishedPanels } from './finished.ts';
import { lockPanels } from './locks.ts';
import { nowPanels } from './now.ts';
import { propagationPanels } from './propagation.ts';
import { protectionPanels } from './protection.ts';
import { snapshotPanels } from './unprotected.ts';

/** The dashboard of filers and volumes, with the data of both services. */
export function volumes(): Dashboard {
  return dashboard({
    place: 'volumes',
    description:
      'Filers and volumes: which filers check in, which data is not yet protected, how long changes take to propagate, who holds the locks, and the state of snapshots. The last three parts need the collectors volumes and volume_telemetry.',
    reach: '6h',
    variables: ['job', 'filer', 'volume', 'window'],
    sections: [
      { title: 'What is broken, where, and since when', panels: nowPanels },
      { title: 'Check-ins', panels: checkInPanels },
      { title: 'Protection', collapsed: true, panels: protectionPanels },
      { title: 'Propagation', collapsed: true, panels: propagationPanels },
      { title: 'Locks', collapsed: true, panels: lockPanels },
      { title: 'Snapshots in the portal', collapsed: true, panels: snapshotPanels },
      { title: 'Snapshots finished', collapsed: true, panels: finishedPanels },
      { title: 'Connections of appliances to volumes', collapsed: true, panels: connectionPanels },
    ],
  });
}

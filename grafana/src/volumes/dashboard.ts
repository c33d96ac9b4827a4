import type { Dashboard } from '../dashboard.ts';
import { dashboard } from '../dashboard.ts';
import { checkInPanels } from './check-ins.ts';
import { feedPanels } from './feed.ts';
import { lockPanels } from './locks.ts';
import { nowPanels } from './now.ts';
import { propagationPanels } from './propagation.ts';
import { protectionPanels } from './protection.ts';

/** What file acceleration tells of filers and volumes. */
export function volumes(): Dashboard {
  return dashboard({
    place: 'volumes',
    description:
      'What file acceleration tells: which filers are in touch, what is not yet protected, how long data takes to arrive, and who holds the locks.',
    reach: '6h',
    variables: ['job', 'filer', 'volume', 'window', 'runbooks'],
    sections: [
      { title: 'What is broken, where, and since when', panels: nowPanels },
      { title: 'Check-ins', panels: checkInPanels },
      { title: 'Protection', collapsed: true, panels: protectionPanels },
      { title: 'Propagation', collapsed: true, panels: propagationPanels },
      { title: 'Locks', collapsed: true, panels: lockPanels },
      { title: 'The feed itself', collapsed: true, panels: feedPanels },
    ],
  });
}

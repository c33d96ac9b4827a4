import type { Dashboard } from '../dashboard.ts';
import { dashboard } from '../dashboard.ts';
import { checkInPanels } from './check-ins.ts';
import { feedPanels } from './feed.ts';
import { lockPanels } from './locks.ts';
import { propagationPanels } from './propagation.ts';
import { protectionPanels } from './protection.ts';

/** What file acceleration tells of filers and volumes. */
export function volumes(): Dashboard {
  return dashboard({
    place: 'volumes',
    description:
      'What file acceleration tells: which filers are in touch, what is not yet protected, how long data takes to arrive, and who holds the locks.',
    reach: '6h',
    variables: ['job', 'filer', 'volume', 'window'],
    sections: [
      { title: 'Check-ins', panels: checkInPanels },
      { title: 'Protection', panels: protectionPanels },
      { title: 'Propagation', panels: propagationPanels },
      { title: 'Locks', panels: lockPanels },
      { title: 'The feed itself', collapsed: true, panels: feedPanels },
    ],
  });
}

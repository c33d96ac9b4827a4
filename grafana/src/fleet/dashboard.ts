import { type Dashboard, dashboard } from '../dashboard.ts';
import { presentPanels } from './present.ts';
import { rankingPanels } from './rankings.ts';
import { reachPanels } from './reach.ts';
import { healthPanels, spreadPanels } from './spreads.ts';

/** All appliances against each other. */
export function fleet(): Dashboard {
  return dashboard({
    place: 'fleet',
    description:
      'All appliances against each other: who is silent, who is under most pressure, and how all of them are.',
    reach: '24h',
    variables: ['job', 'filer', 'volume', 'top'],
    sections: [
      { title: 'Who is there', panels: presentPanels },
      { title: 'As the portal reaches them', panels: reachPanels },
      { title: 'Under most pressure', panels: rankingPanels },
      { title: 'All of them over time', collapsed: true, panels: spreadPanels },
      { title: 'As the portal judges', collapsed: true, panels: healthPanels },
    ],
  });
}

import { type Dashboard, dashboard } from '../dashboard.ts';
import { kindPanels, presentPanels } from './present.ts';
import { rankingPanels } from './rankings.ts';
import { spreadPanels } from './spreads.ts';

/** The dashboard that compares all appliances. */
export function fleet(): Dashboard {
  return dashboard({
    place: 'fleet',
    description: 'All appliances compared: which do not report, which have the highest load, and the state of all.',
    reach: '24h',
    variables: ['job', 'filer', 'worstAppliances', 'top'],
    sections: [
      { title: 'What is broken, where, and since when', panels: presentPanels },
      { title: 'Under most pressure', panels: rankingPanels },
      { title: 'What they are', collapsed: true, panels: kindPanels },
      { title: 'All of them over time', collapsed: true, panels: spreadPanels },
    ],
  });
}

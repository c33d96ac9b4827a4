import type { Dashboard } from '../dashboard.ts';
import { dashboard } from '../dashboard.ts';
import { answerPanels } from './answers.ts';
import { freshnessPanels } from './freshness.ts';
import { historyPanels } from './history.ts';
import { guardPanels, processPanels, scrapePanels } from './process.ts';
import { pacePanels, servicePanels } from './services.ts';

/** The exporter itself: whether what the others show is to be believed. */
export function exporter(): Dashboard {
  return dashboard({
    place: 'exporter',
    description: 'The exporter itself: whether it reaches both services, within which limits, and how old its data is.',
    reach: '6h',
    variables: ['job'],
    sections: [
      { title: 'Up and allowed', panels: servicePanels },
      { title: 'Pace and budget', panels: pacePanels },
      { title: 'Answers', panels: answerPanels },
      { title: 'Freshness', panels: freshnessPanels },
      { title: 'Remote write', panels: historyPanels },
      { title: 'Scrapes', panels: scrapePanels },
      { title: 'Who may scrape', collapsed: true, panels: guardPanels },
      { title: 'Process', collapsed: true, panels: processPanels },
    ],
  });
}

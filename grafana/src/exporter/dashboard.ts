import type { Dashboard } from '../dashboard.ts';
import { dashboard } from '../dashboard.ts';
import { answerPanels } from './answers.ts';
import { freshnessPanels } from './freshness.ts';
import { historyPanels } from './history.ts';
import { pacePanels, servicePanels } from './services.ts';

/** The dashboard of the exporter itself, which shows whether the data of the other dashboards is right and complete. */
export function exporter(): Dashboard {
  return dashboard({
    place: 'exporter',
    description:
      'The exporter itself: whether it can poll both services, within which limits, and how old its data is.',
    reach: '6h',
    variables: ['job'],
    sections: [
      { title: 'What is broken, why, and since when', panels: servicePanels },
      { title: 'Freshness', panels: freshnessPanels },
      { title: 'Request rate and daily quota', panels: pacePanels },
      { title: 'Responses', collapsed: true, panels: answerPanels },
      { title: 'Remote write', collapsed: true, panels: historyPanels },
    ],
  });
}

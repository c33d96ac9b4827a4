import { chart } from '../charts.ts';
import { applianceCounts, checkInsOverTime } from '../common.ts';
import { limits } from '../limits.ts';
import { more } from '../places.ts';

const contact = checkInsOverTime('filer_guid, filer');

/** Shows how many filers and appliances were in contact, over time. */
export const trendPanels = [
  chart({
    title: 'Filers by time since check-in',
    description:
      'How many filers checked in within 5 minutes, within half an hour, or longer ago. If many stop at once, check the service or the network. If one stops, check its appliance.',
    queries: [
      { expr: `sum(${contact} <= bool 300)`, legend: 'under 5 minutes' },
      {
        expr: `sum(${contact} <= bool ${limits.missingCheckIn}) - sum(${contact} <= bool 300)`,
        legend: '5 to 30 minutes',
      },
      { expr: `sum(${contact} > bool ${limits.missingCheckIn})`, legend: 'above 30 minutes' },
    ],
    width: 12,
    stacked: true,
    ofAll: true,
    links: [more('volumes')],
  }),
  chart({
    title: 'Appliances over time',
    description:
      'How many appliances report and how many do not. A sudden fall is an outage or a lost right. A slow fall means that appliances left the account.',
    queries: applianceCounts(),
    width: 12,
    stacked: true,
    ofAll: true,
    links: [more('fleet')],
  }),
];

import { byService } from '../by-service.ts';
import { applianceCounts, checkIns, dataWaits, nothingWaits } from '../common.ts';
import { limits } from '../limits.ts';
import { orNothing } from '../mappings.ts';
import { number, stateCounts } from '../numbers.ts';
import { more } from '../places.ts';
import { firingNumbers } from './alerts.ts';

/** The height of this row of panels: a table of both services fits. */
const LINE = 5;

const contact = checkIns('filer_guid, filer');

/** Shows what needs attention, as a row of numbers. */
export const nowPanels = [
  firingNumbers(LINE),
  stateCounts(
    number({
      title: 'Filers',
      description:
        'Filers that checked in with file acceleration in the last 30 minutes, and those that did not. The table below has these first: check that the appliance runs and reaches the internet.',
      queries: [
        { expr: `sum(${contact} <= bool ${limits.missingCheckIn})`, legend: 'checking in' },
        { expr: `sum(${contact} > bool ${limits.missingCheckIn})`, legend: 'not checking in' },
      ],
      width: 4,
      height: LINE,
      links: [more('volumes')],
    }),
    'not checking in',
  ),
  number(
    {
      title: 'Unprotected',
      description:
        'Age of the oldest data of any filer that is not yet in cloud storage: what would be lost with its appliance. If it grows, find the filer below, and check its propagation, its cache and its connection.',
      queries: { expr: `max(${dataWaits}) or on () ${nothingWaits}`, legend: 'oldest data' },
      steps: limits.unprotected,
      width: 4,
      height: LINE,
    },
    orNothing,
  ),
  stateCounts(
    number({
      title: 'Appliances',
      description:
        'Appliances with telemetry; those without records, which are off or disconnected; and those that cannot be polled. The dashboard Fleet names them. If none has telemetry, check the service first.',
      queries: applianceCounts(),
      width: 5,
      height: LINE,
      links: [more('fleet')],
    }),
    'no records',
    'down',
  ),
  byService(7, LINE),
];

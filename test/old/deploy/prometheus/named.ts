import { recordingRules } from '../../../deploy/prometheus/groups.ts';
import { catalog } from '../../../src/catalog.ts';

const scraped = ['job', 'instance'];
const ofAlerts = ['alertname', 'severity', 'filer', 'volume', 'api', 'about'];

/** The labels of everything that a query may name: the catalogue's metrics, what is recorded, and `up`. */
export const labelsOf: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['up', scraped],
  ['ALERTS', [...scraped, ...ofAlerts, 'alertstate']],
  ['ALERTS_FOR_STATE', [...scraped, ...ofAlerts]],
  ['scrape_duration_seconds', scraped],
  ['process_start_time_seconds', scraped],
  ...catalog.flatMap(({ name, type, labels }) => {
    const ends = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    return ends.map((end): [string, readonly string[]] => {
      return [name + end, [...labels, ...scraped, ...(end === '_bucket' ? ['le'] : [])]];
    });
  }),
  ...recordingRules.map(({ record }): [string, readonly string[]] => [record, scraped]),
]);

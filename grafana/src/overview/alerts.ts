import { firingCount } from '../alerts/table.ts';
import { rulesEvaluated } from '../alerts/words.ts';
import { number, stateCounts } from '../numbers.ts';
import { more } from '../places.ts';
import { select } from '../select.ts';
import { noneExpected } from '../steps.ts';

// While a service is down, the absence of alerts proves nothing.
const loaded = `0 * group(${rulesEvaluated}) unless on () ${select('filer_api_down_info')}`;

/** Shows how many alerts fire, and whether alerts can fire. */
export const firingNumbers = (height: number) =>
  stateCounts(
    number({
      title: 'Alerts',
      description:
        'Alerts of the shipped rules that fire, by severity. Unknown: this Prometheus does not evaluate the rules, or has had no data for them yet, so alerts cannot fire.',
      queries: (['critical', 'warning'] as const).map((severity) => ({
        expr: `${firingCount({}, { filer: 'with account', volume: 'with account' }, severity)} or ${loaded}`,
        legend: severity,
      })),
      steps: noneExpected,
      width: 4,
      height,
      links: [more('exporter')],
    }),
    'critical',
  );

import { firingCount } from '../alerts/table.ts';
import { number, stepsOf } from '../numbers.ts';
import { more } from '../places.ts';
import { select } from '../select.ts';
import { noneAllowed, noneExpected } from '../steps.ts';

/** Recorded by the same rules: where it is not, they are not loaded, and silence says nothing. They have nothing to record in the first minutes. */
const loaded = `0 * max(${select('filer:last_checkin_age:seconds', { filer: '=~".*"' })} or ${select('serial:filer_appliance_series_timestamp_seconds:age', { filer: '=~".*"' })} or ${select('ALERTS', { alertname: '=~"Filer.*"' })})`;

/** How many fire, and whether any could. */
export const firingNumbers = (height: number) =>
  stepsOf(
    number({
      title: 'Alerts',
      description:
        'Alerts of the shipped rules that fire, by severity. Unknown: this Prometheus does not evaluate the rules, or had no data for them yet; silence then says nothing.',
      queries: ['critical', 'warning'].map((severity) => ({
        expr: `${firingCount({}, { filer: 'with account', volume: 'with account' }, severity)} or ${loaded}`,
        legend: severity,
      })),
      steps: noneExpected,
      width: 4,
      height,
      links: [more('exporter')],
      empty: 'unknown',
    }),
    'critical',
    noneAllowed,
  );

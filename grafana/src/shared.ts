import { type Panel, SECONDS, type Steps, table } from './kit.ts';

/** FilerNotCheckingIn pages after 30 minutes. */
export const CHECK_IN: Steps = ['green', [1800, 'red']];

/** FilerDataUnprotected warns after 4 hours and pages after 24. */
export const UNPROTECTED: Steps = ['green', [14_400, 'orange'], [86_400, 'red']];

/** FilerPropagationSlow warns above one hour. */
export const PROPAGATION: Steps = ['green', [3600, 'orange']];

/** FilerSnapshotOld warns after 24 hours. */
export const SNAPSHOT_AGE: Steps = ['green', [86_400, 'orange']];

/** FilerApplianceCpuHigh and FilerApplianceMemoryHigh warn above 90 %. */
export const BUSY: Steps = ['green', [0.9, 'orange']];

/** FilerApplianceCacheFull warns above 95 %. */
export const CACHE: Steps = ['green', [0.95, 'orange']];

/** FilerApplianceDiskSlow warns above 50 ms. */
export const DISK: Steps = ['green', [0.05, 'orange']];

/** The states of filer_appliance_state. */
export const STATE_COLORS = { reporting: 'green', no_records: 'orange', unavailable: 'red' };

/** The alerts that fire, from the series that Prometheus keeps of them: this needs no connection to a ruler. */
export function alertTable(query: string): Panel {
  return table({
    title: 'Alerts',
    help: 'Alerts that fire, critical ones first, and for how long. The runbook of each is at the address in its annotation runbook_url.',
    query,
    name: 'For',
    unit: SECONDS,
    columns: [
      { label: 'severity', title: 'Severity', width: 100, colors: { critical: 'red', warning: 'orange' } },
      { label: 'alertname', title: 'Alert' },
      { label: 'filer', title: 'Filer', link: 'filer' },
      { label: 'volume', title: 'Volume', link: 'volume' },
      { label: 'api', title: 'Service', width: 90 },
    ],
    sortBy: [
      ['Severity', 'up'],
      ['For', 'down'],
    ],
    width: 24,
    height: 7,
    empty: 'No alert is known',
  });
}

// Only here: alerts that never fire, or fire when all is well.
import { testAlerts } from './alerts.ts';
import { type AlertCases, lyon, lyonOnProjects, p2, projects, scraped, series } from './case.ts';

const checkin = series('filer_last_checkin_timestamp_seconds', lyon);
const activity = series('filer_volume_last_checkin_timestamp_seconds', lyonOnProjects);
const unprotected = series('filer_oldest_unprotected_data_timestamp_seconds', lyonOnProjects);
const toProtect = series('filer_volume_time_to_protect_seconds', projects);
const acquired = series('filer_lock_latest_timestamp_seconds', { ...lyonOnProjects, ...p2('acquired') });
const released = series('filer_lock_latest_timestamp_seconds', { ...lyonOnProjects, ...p2('released') });
const held = series('filer_lock_state', { ...lyonOnProjects, ...p2('acquired') });
const free = series('filer_lock_state', { ...lyonOnProjects, ...p2('released') });
/** Twelve filers as an exporter sees them: so many have been silent from the beginning. */
const contacts = (silent: number, instance: string) =>
  Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [
      series('filer_last_checkin_timestamp_seconds', {
        ...lyon,
        instance,
        filer: `f${index}`,
        filer_guid: `g-${index}`,
      }),
      index < silent ? '0x60' : '0+60x60',
    ]),
  );
const events = (le: string) =>
  series('filer_propagation_duration_seconds_bucket', { ...lyonOnProjects, kind: 'data', le });
const infinite = (values: string) => ({
  [events('+Inf')]: values,
  [series('filer_propagation_duration_seconds_count', { ...lyonOnProjects, kind: 'data' })]: values,
});

const cases: AlertCases = {
  FilerFleetNotCheckingIn: [
    {
      when: 'three of twelve filers fall silent at once, as both exporters say',
      series: { ...contacts(3, 'a'), ...contacts(3, 'b') },
      pendingAt: '33m',
      at: '50m',
      fires: scraped,
      values: ['3', ', first of all f0'],
    },
    { when: 'two of twelve do', series: { ...contacts(2, 'a') }, at: '50m' },
    { when: 'all of two do: that is FilerNotCheckingIn', series: { [checkin]: '0x60' }, at: '50m' },
  ],
  FilerDataAtRisk: [
    {
      when: 'data has waited for a day and an hour',
      series: { [unprotected]: '-88200x60' },
      pendingAt: '10m',
      at: '30m',
      fires: lyonOnProjects,
      values: ['1d 1h 0m 0s', '1d 0h 0m 0s'],
    },
    {
      when: 'it has waited for ten hours, which FilerUnprotectedDataOld says',
      series: { [unprotected]: '-36000x60' },
      at: '30m',
    },
  ],
  FilerNotCheckingIn: [
    {
      when: 'neither the service nor any volume has heard of the filer for forty minutes',
      series: { [checkin]: '-1200x30', [activity]: '-2400x30' },
      pendingAt: '13m',
      at: '20m',
      fires: lyon,
      values: ['40m 0s', '30m 0s'],
    },
    {
      when: 'a volume has been quiet for hours, and the filer itself is in touch',
      series: { [checkin]: '0+60x30', [activity]: '-20000x30' },
      at: '20m',
    },
  ],
  FilerUnprotectedDataOld: [
    {
      when: 'data has waited for more than four hours',
      series: { [unprotected]: '-14400x40' },
      pendingAt: '10m',
      at: '30m',
      fires: lyonOnProjects,
      values: ['4h 30m 0s', '4h 0m 0s'],
    },
    { when: 'it has waited for an hour', series: { [unprotected]: '-3600+60x40' }, at: '30m' },
  ],
  FilerTimeToProtectLong: [
    {
      when: 'a volume takes three hours',
      series: { [toProtect]: '10800x60' },
      pendingAt: '20m',
      at: '45m',
      fires: projects,
      values: ['3h 0m 0s', '2h 0m 0s'],
    },
    { when: 'it takes an hour', series: { [toProtect]: '3600x60' }, at: '45m' },
  ],
  FilerPropagationSlow: [
    {
      when: 'most events of the last hours took between one hour and two',
      series: { [events('3600')]: '0+1x180', [events('7200')]: '0+4x180', ...infinite('0+4x180') },
      pendingAt: '20m',
      at: '120m',
      fires: lyonOnProjects,
      values: ['1h 52m 0s', '1h 0m 0s'],
    },
    {
      when: 'one event in twenty took that long',
      series: { [events('3600')]: '0+19x180', [events('7200')]: '0+20x180', ...infinite('0+20x180') },
      at: '120m',
    },
    {
      when: 'the two events of the hour were slow',
      series: {
        [events('3600')]: '0x180',
        [events('7200')]: '0x70 1x20 2x90',
        ...infinite('0x70 1x20 2x90'),
      },
      at: '120m',
    },
    {
      when: 'no event has come for two hours: there is nothing to take a quantile of',
      series: { [events('3600')]: '100x180', [events('7200')]: '900x180', ...infinite('900x180') },
      at: '150m',
    },
    {
      when: 'EVENT_HISTOGRAMS is false, and there is no bucket but the infinite one: silent',
      series: { ...infinite('0+4x180') },
      at: '120m',
    },
  ],
  FilerLockHeldTooLong: [
    {
      when: 'the lock was taken at the tenth minute and not given back',
      series: { [acquired]: '600x60', [held]: '1x60', [released]: '300x60' },
      pendingAt: '43m',
      at: '50m',
      fires: lyonOnProjects,
      values: ['40m 0s', '30m 0s'],
    },
    {
      when: 'the lock was given back two minutes later, and has been free since',
      series: { [acquired]: '600x60', [released]: '720x60', [held]: '1x11 stale', [free]: '_x11 1x50' },
      at: '50m',
    },
    {
      when: 'it was taken two minutes ago',
      series: { [acquired]: '2880x60', [held]: '1x60', [released]: '300x60' },
      at: '50m',
    },
  ],
};

testAlerts('file-acceleration', cases);

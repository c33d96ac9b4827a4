// Only here: recording rules that record something else.
import { expect, test } from 'vitest';
import { recordingRules } from '../../../deploy/prometheus/groups.ts';
import {
  api,
  applianceLyon,
  applianceOslo,
  lyon,
  lyonOnProjects,
  osloOnProjects,
  p2,
  projects,
  type RecordingCase,
  type RecordingCases,
  series,
} from './case.ts';
import { hasPromtool, testRecorded } from './promtool.ts';

const bucket = (le: string, kind = 'data') =>
  series('filer_propagation_duration_seconds_bucket', { ...lyonOnProjects, kind, le });

/** A hundred events an hour: half up to a minute, 45 up to ten minutes, five up to an hour; of two kinds. */
const propagated = {
  [bucket('60')]: '0+25x120',
  [bucket('600')]: '0+70x120',
  [bucket('3600')]: '0+75x120',
  [bucket('+Inf')]: '0+75x120',
  [bucket('60', 'metadata')]: '0+25x120',
  [bucket('600', 'metadata')]: '0+25x120',
  [bucket('3600', 'metadata')]: '0+25x120',
  [bucket('+Inf', 'metadata')]: '0+25x120',
};

const quantile = (value: number): readonly RecordingCase[] => [
  {
    when: 'of the events of all kinds together',
    series: propagated,
    at: '90m',
    samples: [{ labels: lyonOnProjects, value }],
  },
  {
    when: 'without an event in the last hour there is none',
    series: { [bucket('60')]: '5x120', [bucket('+Inf')]: '5x120' },
    at: '90m',
    samples: [],
  },
];

const lockSum = (labels: object, lock_phase = 'p2') =>
  series('filer_lock_duration_seconds_sum', { ...labels, lock_phase });
const locks = {
  [lockSum(lyonOnProjects)]: '0+6x120',
  [lockSum(lyonOnProjects, 'p1')]: '0+60x120',
  [lockSum(osloOnProjects)]: '0+12x120',
};
const changed = (labels: object, state: 'acquired' | 'released') =>
  series('filer_lock_latest_timestamp_seconds', { ...labels, ...p2(state) });
const stateOf = (labels: object, state: 'acquired' | 'released') =>
  series('filer_lock_state', { ...labels, ...p2(state) });
const releases = {
  [changed(lyonOnProjects, 'released')]: '600x60',
  [changed(lyonOnProjects, 'acquired')]: '900x60',
  [changed(osloOnProjects, 'released')]: '1200x60',
};
const recordTime = (labels: object, name: string) =>
  series('filer_appliance_series_timestamp_seconds', { ...labels, series: name });

/** Events of two filers on a volume: the volume has all, by what else tells them apart. */
const ofVolume = (name: string, filers: readonly [object, object], more: object = {}): readonly RecordingCase[] => [
  {
    when: 'all filers of the volume together',
    series: {
      [series(name, { ...filers[0], ...more })]: '0+3x120',
      [series(name, { ...filers[1], ...more })]: '0+1x120',
    },
    at: '90m',
    samples: [{ labels: { ...projects, ...more }, value: 240 }],
  },
];
const filersOnProjects = [lyonOnProjects, osloOnProjects] as const;
const appliancesOnProjects = [
  { ...applianceLyon, ...projects },
  { ...applianceOslo, ...projects },
] as const;
const snapshotStatus = (labels: object, status: string) =>
  series('filer_volume_snapshot_status', { ...labels, status });

/** Labels of an alert about a filer, whichever exporter polls it. */
const about = (filer: string) => ({ job: lyon.job, filer });

/** An alert that has fired since the fifth minute. */
const alerting = (alertname: string, severity: string, labels: object) => ({
  [series('ALERTS', { ...labels, alertname, severity, alertstate: 'firing' })]: '1x30',
  [series('ALERTS_FOR_STATE', { ...labels, alertname, severity })]: '300x30',
});

const recordingCases: RecordingCases = {
  'alert:ALERTS:unexplained_age': [
    {
      when: 'a filer is off, which explains its appliance, and a disk and the portal are slow',
      series: {
        ...alerting('FilerNotCheckingIn', 'critical', about(lyon.filer)),
        ...alerting('FilerApplianceDown', 'critical', about(lyon.filer)),
        ...alerting('FilerApplianceDiskLatencyHigh', 'warning', {
          ...about(applianceOslo.filer),
          disk: 'cache',
          direction: 'read',
        }),
        ...alerting('FilerExporterThrottled', 'warning', api('portal')),
      },
      at: '20m',
      samples: [
        {
          labels: { job: lyon.job, alertname: 'FilerNotCheckingIn', severity: 'critical', filer: lyon.filer },
          value: 900,
        },
        {
          labels: {
            job: lyon.job,
            alertname: 'FilerApplianceDiskLatencyHigh',
            severity: 'warning',
            filer: applianceOslo.filer,
            about: 'cache',
          },
          value: 900,
        },
        {
          labels: {
            job: lyon.job,
            alertname: 'FilerExporterThrottled',
            severity: 'warning',
            about: 'portal        exporter:9989',
          },
          value: 900,
        },
      ],
    },
    {
      when: 'the portal is down, which explains what is reported of appliances',
      series: {
        ...alerting('FilerApiDown', 'critical', api('portal')),
        ...alerting('FilerApplianceCpuHigh', 'warning', about(lyon.filer)),
        [series('filer_api_up', api('portal'))]: '0x30',
      },
      at: '20m',
      samples: [
        {
          labels: {
            job: lyon.job,
            alertname: 'FilerApiDown',
            severity: 'critical',
            about: 'portal        exporter:9989',
          },
          value: 900,
        },
      ],
    },
  ],
  'job:filer_appliance_info:count': [
    {
      when: 'two exporters of one account, of which one has seen an update first',
      series: {
        [series('filer_appliance_info', { ...applianceLyon, build: '10.1' })]: '1x5',
        [series('filer_appliance_info', { ...applianceLyon, build: '10.2', instance: 'b:9989' })]: '1x5',
        [series('filer_appliance_info', { ...applianceOslo, build: '10.1' })]: '1x5',
      },
      at: '3m',
      samples: [{ labels: { job: 'filer-exporter' }, value: 2 }],
    },
  ],
  'volume_filer:filer_propagation_duration_seconds:p90_rate1h': quantile(540),
  'volume_filer:filer_propagation_duration_seconds_count:increase1h': [
    {
      when: 'both kinds together',
      series: {
        [series('filer_propagation_duration_seconds_count', { ...lyonOnProjects, kind: 'data' })]: '0+3x120',
        [series('filer_propagation_duration_seconds_count', { ...lyonOnProjects, kind: 'metadata' })]: '0+1x120',
      },
      at: '90m',
      samples: [{ labels: lyonOnProjects, value: 240 }],
    },
  ],
  'volume_filer:filer_lock_duration_seconds:share_rate1h': [
    {
      when: 'six seconds of each minute, and twelve at another filer; phase P1 is no lock of the volume',
      series: locks,
      at: '90m',
      samples: [
        { labels: lyonOnProjects, value: 0.1 },
        { labels: osloOnProjects, value: 0.2 },
      ],
    },
  ],
  'volume_filer:filer_lock_latest_timestamp_seconds:release_age': [
    {
      when: 'at the half hour, from the tenth and the twentieth minute on',
      series: releases,
      at: '30m',
      samples: [
        { labels: lyonOnProjects, value: 1_200 },
        { labels: osloOnProjects, value: 600 },
      ],
    },
  ],
  'volume:filer_lock_latest_timestamp_seconds:release_age': [
    {
      when: 'the latest release of any filer counts',
      series: releases,
      at: '30m',
      samples: [{ labels: projects, value: 600 }],
    },
  ],
  'volume_filer:filer_lock_latest_timestamp_seconds:held_age': [
    {
      when: 'only where it has not been given back',
      series: {
        ...releases,
        [stateOf(lyonOnProjects, 'acquired')]: '1x60',
        [changed(osloOnProjects, 'acquired')]: '1100x60',
        [stateOf(osloOnProjects, 'released')]: '1x60',
      },
      at: '30m',
      samples: [{ labels: lyonOnProjects, value: 900 }],
    },
  ],
  'volume_filer:last_checkin_age:seconds': [
    {
      when: 'since the last activity on the volume',
      series: { [series('filer_volume_last_checkin_timestamp_seconds', lyonOnProjects)]: '60x10' },
      at: '5m',
      samples: [{ labels: lyonOnProjects, value: 240 }],
    },
  ],
  'filer:last_checkin_age:seconds': [
    {
      when: 'the freshest of what is told of a filer',
      series: {
        [series('filer_last_checkin_timestamp_seconds', lyon)]: '258x10',
        [series('filer_volume_last_checkin_timestamp_seconds', lyonOnProjects)]: '60x10',
      },
      at: '5m',
      samples: [{ labels: lyon, value: 42 }],
    },
    {
      when: 'a volume alone tells of it',
      series: { [series('filer_volume_last_checkin_timestamp_seconds', lyonOnProjects)]: '60x10' },
      at: '5m',
      samples: [{ labels: lyon, value: 240 }],
    },
    {
      when: 'it grows while polls fail and the sample stays the same',
      series: { [series('filer_last_checkin_timestamp_seconds', lyon)]: '60x30' },
      at: '20m',
      samples: [{ labels: lyon, value: 1_140 }],
    },
  ],
  'volume_filer:oldest_unprotected_data_age:seconds': [
    {
      when: 'of one filer on the volume',
      series: { [series('filer_oldest_unprotected_data_timestamp_seconds', lyonOnProjects)]: '60x10' },
      at: '5m',
      samples: [{ labels: lyonOnProjects, value: 240 }],
    },
  ],
  'serial:filer_appliance_series_timestamp_seconds:age': [
    {
      when: 'of the newest record of any series',
      series: {
        [recordTime(applianceLyon, 'cpu_utilization')]: '60x10',
        [recordTime(applianceLyon, 'load_average')]: '120x10',
      },
      at: '5m',
      samples: [{ labels: applianceLyon, value: 180 }],
    },
  ],
  ...Object.fromEntries(
    (
      [
        ['filer_propagation_duration_seconds_bucket', filersOnProjects, { kind: 'data', le: '60' }],
        ['filer_lock_duration_seconds_bucket', filersOnProjects, { lock_phase: 'p2', le: '60' }],
        ['filer_snapshot_time_to_protect_seconds_bucket', appliancesOnProjects, { le: '60' }],
        ['filer_snapshot_propagation_seconds_sum', appliancesOnProjects, {}],
        ['filer_snapshot_propagation_seconds_count', appliancesOnProjects, {}],
        ['filer_snapshot_phase_duration_seconds_sum', appliancesOnProjects, { phase: 'data' }],
        ['filer_snapshot_phase_duration_seconds_count', appliancesOnProjects, { phase: 'data' }],
        ['filer_lock_events_total', filersOnProjects, p2('released')],
      ] as const
    ).map(([name, filers, more]) => [`volume:${name}:increase1h`, ofVolume(name, filers, more)]),
  ),
  'volume_filer:filer_volume_snapshot_status:rank': [
    {
      when: 'of several that are 1 the worst; without one that is 1 there is none',
      series: {
        [snapshotStatus(appliancesOnProjects[0], 'idle')]: '1x5',
        [snapshotStatus(appliancesOnProjects[0], 'failed')]: '1x5',
        [snapshotStatus(appliancesOnProjects[1], 'in_progress')]: '1x5',
        [snapshotStatus(appliancesOnProjects[1], 'failed')]: '0x5',
        [snapshotStatus({ ...applianceLyon, volume: 'home', volume_guid: 'v-2' }, 'up_to_date')]: '1x5',
        [snapshotStatus({ ...applianceOslo, volume: 'home', volume_guid: 'v-2' }, 'other')]: '1x5',
        [snapshotStatus({ ...applianceLyon, volume: 'media', volume_guid: 'v-3' }, 'idle')]: '0x5',
      },
      at: '3m',
      samples: [
        { labels: appliancesOnProjects[0], value: 3 },
        { labels: appliancesOnProjects[1], value: 1 },
        { labels: { ...applianceLyon, volume: 'home', volume_guid: 'v-2' }, value: 0 },
        { labels: { ...applianceOslo, volume: 'home', volume_guid: 'v-2' }, value: 2 },
      ],
    },
  ],
};

test('each recording rule has a case that gives samples, and no case is without its rule', () => {
  expect(new Set(Object.keys(recordingCases))).toEqual(new Set(recordingRules.map(({ record }) => record)));
  for (const cases of Object.values(recordingCases)) expect(cases.some(({ samples }) => samples.length > 0)).toBe(true);
});

test.runIf(hasPromtool)('promtool records what the recording rules say', () => {
  const cases = Object.entries(recordingCases).flatMap(([name, all]) => all.map((one) => [name, one] as const));
  expect(testRecorded(cases)).toMatchObject({ status: 0 });
});

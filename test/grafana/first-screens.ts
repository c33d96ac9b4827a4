import type { ParsedSample } from '../support/exposition-parser.ts';

/** The samples of a metric whose labels are these. */
export type Series = (name: string, labels?: Readonly<Record<string, string>>) => readonly ParsedSample[];

/** A number that people read first, by its panel and legend, and the same from `/metrics` alone. */
export type FirstNumber = readonly [panel: string, legend: string, from: (series: Series, now: number) => number];

const values = (samples: readonly ParsedSample[]) => samples.map(({ value }) => value);
const sum = (samples: readonly ParsedSample[]) => values(samples).reduce((one, other) => one + other, 0);
const newest = (samples: readonly ParsedSample[]) => Math.max(...values(samples));
const oldest = (samples: readonly ParsedSample[]) => Math.min(...values(samples));
const zeros = (samples: readonly ParsedSample[]) => samples.filter(({ value }) => value === 0).length;

/** Time since each filer was heard of, on its own or on any volume. */
function contacts(series: Series, now: number): readonly number[] {
  const all = [
    ...series('filer_last_checkin_timestamp_seconds'),
    ...series('filer_volume_last_checkin_timestamp_seconds'),
  ];
  const filers = [...new Set(all.map(({ labels }) => labels.filer_guid))];
  return filers.map((filer) => now - newest(all.filter(({ labels }) => labels.filer_guid === filer)));
}

const standing = (state: string) => (series: Series) => sum(series('filer_appliance_state', { state }));

/** The appliance that the board of one is read for. */
export const ONE = 'edge-lima';
const ofOne = (name: string) => (series: Series, now: number) => now - newest(series(name, { filer: ONE }));

/** The numbers of the first screens, each worked out by hand. */
export const firstNumbers: readonly FirstNumber[] = [
  ...['filer-overview', 'filer-volumes'].flatMap((board): readonly FirstNumber[] => [
    [`${board} / Filers`, 'checking in', (series, now) => contacts(series, now).filter((age) => age <= 1800).length],
    [`${board} / Filers`, 'not checking in', (series, now) => contacts(series, now).filter((age) => age > 1800).length],
    [
      `${board} / Unprotected`,
      '',
      (series, now) => now - oldest(series('filer_oldest_unprotected_data_timestamp_seconds')),
    ],
  ]),
  ...['filer-overview', 'filer-fleet'].flatMap((board): readonly FirstNumber[] => [
    [`${board} / Appliances`, 'up', standing('reporting')],
    [`${board} / Appliances`, 'no records', standing('no_records')],
    [`${board} / Appliances`, 'down', standing('unavailable')],
  ]),
  ['filer-volumes / Check-in', '', (series, now) => Math.max(...contacts(series, now))],
  ['filer-volumes / Volumes', 'accelerated', (series) => sum(series('filer_gfa_volumes'))],
  ['filer-fleet / Unreachable', 'unreachable', (series) => zeros(series('filer_appliance_reachable'))],
  ['filer-fleet / Unreachable', 'not synced', (series) => zeros(series('filer_appliance_synced'))],
  ['filer-fleet / Updates waiting', 'offered', (series) => sum(series('filer_appliance_update_available'))],
  ['filer-fleet / Updates waiting', 'behind the newest', (series) => sum(series('filer_appliance_software_outdated'))],
  ['filer-appliance / Last record', ONE, ofOne('filer_appliance_last_record_timestamp_seconds')],
  ['filer-appliance / Last seen', ONE, ofOne('filer_appliance_last_seen_timestamp_seconds')],
  ['filer-appliance / Health score', ONE, (series) => sum(series('filer_appliance_health_score', { filer: ONE }))],
  [
    'filer-account / Subscription',
    'left',
    (series, now) => oldest(series('filer_license_expiry_timestamp_seconds')) - now,
  ],
  ['filer-account / Portal', 'health', (series) => sum(series('filer_portal_healthy'))],
  [
    'filer-account / Key expires in',
    'left',
    (series, now) => oldest(series('filer_iam_next_key_expiry_timestamp_seconds')) - now,
  ],
  ['filer-account / Failed jobs', 'failed', (series) => sum(series('filer_jobs_failed_unacknowledged'))],
  ['filer-account / Credentials', 'with an error', (series) => sum(series('filer_cloud_credentials_with_error'))],
  [
    'filer-account / Files indexed',
    'used',
    (series) => sum(series('filer_indexing_consumed_files')) / sum(series('filer_indexing_limit_files')),
  ],
  ...['forbidden', 'not_found'].map((reason): FirstNumber => {
    return [
      'filer-exporter / Suspended tasks',
      reason,
      (series) => sum(series('filer_exporter_tasks_suspended', { reason })),
    ];
  }),
];

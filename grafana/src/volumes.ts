import {
  type Board,
  BYTES,
  bars,
  chart,
  filers,
  heat,
  RATIO,
  SECONDS,
  stat,
  table,
  volumes as volumeVariable,
} from './kit.ts';
import { alertTable, CHECK_IN, PROPAGATION, SNAPSHOT_AGE, UNPROTECTED } from './shared.ts';

/** FilerLockHeldTooLong warns after 30 minutes. */
const LOCK_HELD = ['green', [1800, 'orange']] as const;

/** Whether data of filers and volumes is protected, and how it reaches other filers. */
export const volumes: Board = {
  uid: 'filer-volumes',
  title: 'Filers and volumes',
  description: 'Check-ins, protection, propagation, locks and snapshots, by filer and volume.',
  range: '6h',
  variables: [filers, volumeVariable],
  top: [
    stat({
      title: 'Longest since check-in',
      help: 'The filer without contact with file acceleration for longest. After 30 minutes, check its power, network and proxy.',
      query: 'topk(1, time() - filer_last_checkin_timestamp_seconds{job="$job",filer=~`${filer:regex}`})',
      name: '{{filer}}',
      unit: SECONDS,
      steps: CHECK_IN,
      link: 'filer',
      width: 6,
      empty: 'No filer is known',
    }),
    stat({
      title: 'Oldest unprotected data',
      help: 'The filer and volume with the oldest data that is not yet in the cloud. Find out why its snapshots wait: a lock, the upload, or the cache.',
      query:
        'topk(1, time() - filer_oldest_unprotected_data_timestamp_seconds{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
      name: '{{filer}}, {{volume}}',
      unit: SECONDS,
      steps: UNPROTECTED,
      link: 'filer',
      width: 6,
      empty: 'No waiting data is known',
    }),
    stat({
      title: 'Slowest propagation',
      help: 'The filer and volume that changes reach last: nine of ten changes of the last hour took this time or less.',
      query:
        'topk(1, volume_filer:filer_propagation_duration_seconds:p90_rate1h{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
      name: '{{filer}}, {{volume}}',
      unit: SECONDS,
      steps: PROPAGATION,
      link: 'filer',
      width: 6,
      empty: 'No propagation is known in the last hour',
    }),
    stat({
      title: 'Longest lock held',
      help: 'The filer that holds the P2 lock of a volume now, for longest. No other filer can write a snapshot of the volume meanwhile.',
      query:
        'topk(1, time() - (filer_lock_latest_timestamp_seconds{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`,lock_phase="p2"} and filer_lock_state{lock_state="acquired"}))',
      name: '{{filer}}, {{volume}}',
      unit: SECONDS,
      steps: LOCK_HELD,
      link: 'filer',
      width: 6,
      empty: 'No held lock is known',
    }),
    table({
      title: 'Volumes',
      help: 'Each volume with its worst filer. A click on a name shows the volume alone.',
      queries: [
        {
          expr: 'time() - min by (volume) (filer_oldest_unprotected_data_timestamp_seconds{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
          name: 'Unprotected for',
          unit: SECONDS,
          steps: UNPROTECTED,
        },
        {
          expr: 'sum by (volume) (filer_volume_unprotected_bytes{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
          name: 'Unprotected data',
          unit: BYTES,
        },
        {
          expr: 'max by (volume) (volume_filer:filer_propagation_duration_seconds:p90_rate1h{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
          name: 'Propagation p90',
          unit: SECONDS,
          steps: PROPAGATION,
        },
        {
          expr: 'max by (volume) (filer_volume_time_to_protect_seconds{job="$job", volume=~`${volume:regex}`})',
          name: 'Time to protect',
          unit: SECONDS,
        },
        {
          expr: 'time() - max by (volume) (filer_volume_last_snapshot_timestamp_seconds{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
          name: 'Last snapshot',
          unit: SECONDS,
          steps: SNAPSHOT_AGE,
        },
        {
          expr: 'count by (volume) (filer_volume_accessible_bytes{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
          name: 'Appliances',
        },
      ],
      columns: [{ label: 'volume', title: 'Volume', link: 'volume' }],
      sortBy: [['Unprotected for', 'down']],
      width: 24,
      empty: 'No volume is known',
    }),
  ],
  rows: [
    {
      title: 'Check-ins and protection',
      panels: [
        table({
          title: 'Filers that do not check in',
          help: 'Filers without contact for more than 30 minutes. Check power, network and proxy of each.',
          query: 'topk(100, time() - filer_last_checkin_timestamp_seconds{job="$job",filer=~`${filer:regex}`} > 1800)',
          name: 'Since check-in',
          unit: SECONDS,
          steps: CHECK_IN,
          columns: [{ label: 'filer', title: 'Filer', link: 'filer' }],
          sortBy: [['Since check-in', 'down']],
          width: 8,
          empty: 'No silent filer is known',
        }),
        chart({
          title: 'Age of the oldest unprotected data',
          help: 'The ten oldest. A line that rises without end belongs to a filer whose snapshots have stopped.',
          query:
            'topk(10, time() - filer_oldest_unprotected_data_timestamp_seconds{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
          name: '{{filer}}, {{volume}}',
          unit: SECONDS,
          steps: UNPROTECTED,
          link: 'filer',
          width: 8,
          empty: 'No waiting data is known',
        }),
        chart({
          title: 'Unprotected data',
          help: 'The ten largest amounts of data that are only on one appliance. It is lost if the appliance is lost, and fills its cache.',
          query:
            'topk(10, filer_volume_unprotected_bytes{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
          name: '{{filer}}, {{volume}}',
          unit: BYTES,
          link: 'filer',
          width: 8,
          empty: 'No unprotected data is known',
        }),
      ],
    },
    {
      title: 'Propagation',
      panels: [
        chart({
          title: 'Propagation time, all filers',
          help: 'Median, 90th and 99th percentile of the last hour. If the median rises, all filers wait: check locks and time to protect. If only p99 rises, a filer on the right is slow.',
          queries: [
            {
              expr: 'histogram_quantile(0.5, sum by (le) (volume:filer_propagation_duration_seconds_bucket:rate1h{job="$job", volume=~`${volume:regex}`}))',
              name: 'p50',
            },
            {
              expr: 'histogram_quantile(0.9, sum by (le) (volume:filer_propagation_duration_seconds_bucket:rate1h{job="$job", volume=~`${volume:regex}`}))',
              name: 'p90',
            },
            {
              expr: 'histogram_quantile(0.99, sum by (le) (volume:filer_propagation_duration_seconds_bucket:rate1h{job="$job", volume=~`${volume:regex}`}))',
              name: 'p99',
            },
          ],
          unit: SECONDS,
          width: 8,
          empty: 'No propagation is known',
        }),
        heat({
          title: 'Propagation times',
          help: 'How many changes took how long, in events per second of the last hour. Two bands mean two kinds of sites or volumes; a rising band is a queue that grows.',
          query:
            'sum by (le) (volume:filer_propagation_duration_seconds_bucket:rate1h{job="$job", volume=~`${volume:regex}`})',
          name: '{{le}}',
          width: 8,
          empty: 'No propagation is known',
        }),
        chart({
          title: 'Slowest filers, p90',
          help: 'The ten filers and volumes that changes reach last. If one is much slower than the others, check its connection and its cache disk.',
          query:
            'topk(10, volume_filer:filer_propagation_duration_seconds:p90_rate1h{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
          name: '{{filer}}, {{volume}}',
          unit: SECONDS,
          steps: PROPAGATION,
          link: 'filer',
          width: 8,
          empty: 'No propagation is known in the last hour',
        }),
      ],
    },
    {
      title: 'Locks',
      panels: [
        table({
          title: 'Locks held now',
          help: 'Filers that hold the P2 lock of a volume, and since when. A first snapshot, or one of millions of files, takes long.',
          query:
            'topk(50, time() - (filer_lock_latest_timestamp_seconds{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`,lock_phase="p2"} and filer_lock_state{lock_state="acquired"}))',
          name: 'Held for',
          unit: SECONDS,
          steps: LOCK_HELD,
          columns: [
            { label: 'volume', title: 'Volume', link: 'volume' },
            { label: 'filer', title: 'Filer', link: 'filer' },
          ],
          sortBy: [['Held for', 'down']],
          width: 8,
          empty: 'No held lock is known',
        }),
        chart({
          title: 'Share of time locked',
          help: 'Share of the last hour for which a filer held the P2 lock of a volume. Near 100 %, other filers wait: stagger the schedules of snapshots.',
          query:
            'topk(10, rate(filer_lock_duration_seconds_sum{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`,lock_phase="p2"}[1h]))',
          name: '{{filer}}, {{volume}}',
          unit: RATIO,
          link: 'filer',
          width: 8,
          empty: 'No lock is known',
        }),
        chart({
          title: 'Time since a lock was released',
          help: 'Time since any filer released the lock of a volume. A line that rises without end belongs to a volume without snapshots.',
          query:
            'topk(10, time() - max by (volume) (filer_lock_latest_timestamp_seconds{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`,lock_state="released"}))',
          name: '{{volume}}',
          unit: SECONDS,
          link: 'volume',
          width: 8,
          empty: 'No released lock is known',
        }),
      ],
    },
    {
      title: 'Snapshots, by the portal',
      panels: [
        table({
          title: 'Failed snapshots',
          help: 'Volumes whose last snapshot on an appliance has failed. Read the error in the portal, and start a snapshot by hand.',
          query:
            'filer_volume_snapshot_status{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`,status="failed"}',
          columns: [
            { label: 'volume', title: 'Volume', link: 'volume' },
            { label: 'filer', title: 'Appliance', link: 'filer' },
            { label: 'status', title: 'Status', colors: { failed: 'red' } },
          ],
          width: 8,
          empty: 'No failed snapshot is known',
        }),
        bars({
          title: 'Time since the last snapshot',
          help: 'The ten oldest. An old snapshot is bad only if data waits.',
          query:
            'topk(10, time() - filer_volume_last_snapshot_timestamp_seconds{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
          name: '{{filer}}, {{volume}}',
          unit: SECONDS,
          steps: SNAPSHOT_AGE,
          link: 'filer',
          width: 8,
          height: 8,
          empty: 'No snapshot is known',
        }),
        chart({
          title: 'Snapshots behind',
          help: 'How many snapshots of a volume an appliance has not received. Above five for an hour, its users see old files: check its network.',
          query:
            'topk(10, filer_snapshot_versions_behind{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`})',
          name: '{{filer}}, {{volume}}',
          steps: ['green', [5, 'orange']],
          link: 'filer',
          width: 8,
          empty: 'The collector volume_telemetry is off, or no snapshot is known',
        }),
        chart({
          title: 'Snapshots per hour',
          help: 'Snapshots of a volume by all appliances. A volume that people write to and that has none is not protected.',
          query:
            'topk(10, sum by (volume) (increase(filer_snapshots_total{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`}[1h])))',
          name: '{{volume}}',
          link: 'volume',
          width: 8,
          empty: 'The collector volume_telemetry is off, or no snapshot is known',
        }),
        chart({
          title: 'Mean duration by phase',
          help: 'The mean time of each phase of the snapshots of the last hour. If the data phase is long, check the upload; if the metadata phase is long, check the locks.',
          query:
            'sum by (phase) (rate(filer_snapshot_phase_duration_seconds_sum{job="$job", volume=~`${volume:regex}`}[1h])) / sum by (phase) (rate(filer_snapshot_phase_duration_seconds_count{job="$job", volume=~`${volume:regex}`}[1h]))',
          name: '{{phase}}',
          unit: SECONDS,
          width: 8,
          empty: 'The collector volume_telemetry is off, or no snapshot is known',
        }),
        chart({
          title: 'Failed metadata snapshots per hour',
          help: 'A page follows if more than two fail in an hour. Read the error in the portal.',
          query:
            'topk(10, increase(filer_snapshot_metadata_failures_total{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`}[1h]) > 0)',
          name: '{{filer}}, {{volume}}',
          steps: ['green', [2, 'red']],
          link: 'filer',
          width: 8,
          empty: 'No failed metadata snapshot is known',
        }),
      ],
    },
    {
      title: 'Connections of appliances to volumes',
      folded: true,
      panels: [
        table({
          title: 'Connections',
          help: 'How each appliance is connected to each volume, and where the volume is stored.',
          query: 'filer_volume_connection_info{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}`}',
          columns: [
            { label: 'volume', title: 'Volume', link: 'volume' },
            { label: 'filer', title: 'Appliance', link: 'filer' },
            { label: 'role', title: 'Role' },
            { label: 'protocols', title: 'Protocols' },
            { label: 'connection_permission', title: 'Permission' },
            { label: 'security_mode', title: 'Security' },
            { label: 'cloud_provider', title: 'Cloud' },
            { label: 'cloud_region', title: 'Region' },
          ],
          width: 24,
          height: 12,
          empty: 'No connection is known',
        }),
      ],
    },
    {
      title: 'Alerts',
      folded: true,
      panels: [
        alertTable(
          'topk(100, (time() - ALERTS_FOR_STATE{job="$job",filer=~`${filer:regex}`,volume=~`${volume:regex}|`}) * ignoring (alertstate) group_right () ALERTS{job="$job",alertstate="firing"})',
        ),
      ],
    },
  ],
};

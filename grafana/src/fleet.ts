import { type Board, bars, COUNT, filers, RATIO, SECONDS, stat, table, yesNo } from './kit.ts';
import { BUSY, CACHE, CHECK_IN, DISK, STATE_COLORS, UNPROTECTED } from './shared.ts';

/** All appliances beside each other. */
export const fleet: Board = {
  uid: 'filer-fleet',
  title: 'Fleet',
  description: 'All appliances: their state, the highest of each value, and what they run.',
  range: '6h',
  variables: [filers],
  top: [
    table({
      title: 'Appliances',
      help: 'Every appliance with its state and its most important values. A click on a name opens its board.',
      queries: [
        { expr: 'group by (filer, state) (filer_appliance_state{job="$job",filer=~`${filer:regex}`})', name: '' },
        {
          expr: 'time() - max by (filer) (filer_last_checkin_timestamp_seconds{job="$job",filer=~`${filer:regex}`})',
          name: 'Since check-in',
          unit: SECONDS,
          steps: CHECK_IN,
        },
        {
          expr: 'time() - min by (filer) (filer_oldest_unprotected_data_timestamp_seconds{job="$job",filer=~`${filer:regex}`})',
          name: 'Unprotected for',
          unit: SECONDS,
          steps: UNPROTECTED,
        },
        {
          expr: 'max by (filer) (filer_appliance_cpu_utilization_ratio{job="$job",filer=~`${filer:regex}`})',
          name: 'Processors',
          unit: RATIO,
          steps: BUSY,
        },
        {
          expr: 'max by (filer) (filer_appliance_memory_utilization_ratio{job="$job",filer=~`${filer:regex}`})',
          name: 'Memory',
          unit: RATIO,
          steps: BUSY,
        },
        {
          expr: 'max by (filer) (filer_appliance_cache_utilization_ratio{job="$job",filer=~`${filer:regex}`})',
          name: 'Cache',
          unit: RATIO,
          steps: CACHE,
        },
        {
          expr: 'max by (filer) (filer_appliance_health_score{job="$job",filer=~`${filer:regex}`})',
          name: 'Health',
        },
      ],
      columns: [
        { label: 'filer', title: 'Appliance', link: 'filer' },
        { label: 'state', title: 'Telemetry', colors: STATE_COLORS },
      ],
      sortBy: [['Since check-in', 'down']],
      width: 24,
      height: 14,
      empty: 'No appliance is known',
    }),
  ],
  rows: [
    {
      title: 'The highest ten',
      panels: [
        bars({
          title: 'Load per core',
          help: 'Processes that run or wait, for each core. Above 100 % for long, users wait: see what runs on the appliance, or add cores.',
          query:
            'topk(10, filer_appliance_load_average{job="$job",filer=~`${filer:regex}`,window="5m"} / ignoring (window) filer_appliance_cpu_cores)',
          name: '{{filer}}',
          unit: RATIO,
          link: 'filer',
          width: 8,
          empty: 'No load is known',
        }),
        bars({
          title: 'Memory not available',
          help: 'Share of the memory that is not available. Above 90 %, the file system has little memory for its caches.',
          query: 'topk(10, filer_appliance_memory_utilization_ratio{job="$job",filer=~`${filer:regex}`})',
          name: '{{filer}}',
          unit: RATIO,
          steps: BUSY,
          link: 'filer',
          width: 8,
          empty: 'No memory is known',
        }),
        bars({
          title: 'Disk latency',
          help: 'Mean time of one operation of the slowest disk. Above 50 ms, the disk is too slow or too busy: check the datastore.',
          query:
            'topk(10, max by (filer) (filer_appliance_disk_io_latency_seconds{job="$job",filer=~`${filer:regex}`}))',
          name: '{{filer}}',
          unit: SECONDS,
          steps: DISK,
          link: 'filer',
          width: 8,
          empty: 'No disk is known',
        }),
        bars({
          title: 'Cache misses',
          help: 'Share of the reads that had to be fetched from the cloud. If it is high for long, the cache is too small for what users work on.',
          query:
            'topk(10, filer_appliance_cache_requests{job="$job",filer=~`${filer:regex}`,result="miss"} / ignoring (result) sum without (result) (filer_appliance_cache_requests))',
          name: '{{filer}}',
          unit: RATIO,
          link: 'filer',
          width: 8,
          empty: 'No cache is known',
        }),
        bars({
          title: 'Sent to the cloud',
          help: 'Upload of each appliance. If it stays at the limit of the line, protection waits for it.',
          query:
            'topk(10, filer_appliance_network_bytes_per_second{job="$job",filer=~`${filer:regex}`,peer="cloud",direction="out"})',
          name: '{{filer}}',
          unit: 'binBps',
          link: 'filer',
          width: 8,
          empty: 'The series network_utilization is off, or no appliance is known',
        }),
        bars({
          title: 'SMB sessions',
          help: 'Active sessions of users.',
          query: 'topk(10, filer_appliance_smb_connections{job="$job",filer=~`${filer:regex}`})',
          name: '{{filer}}',
          link: 'filer',
          width: 8,
          empty: 'The series smb_connections is off, or no appliance is known',
        }),
      ],
    },
    {
      title: 'What they run',
      panels: [
        bars({
          title: 'Appliances by build',
          help: 'How many appliances run which build. Many builds at once are an update that has not been finished.',
          query: 'sort_desc(count by (type, build) (filer_appliance_info{job="$job",filer=~`${filer:regex}`}))',
          name: '{{type}} {{build}}',
          width: 12,
          empty: 'No appliance is known',
        }),
        stat({
          title: 'Need attention in the portal',
          help: 'Appliances that the portal cannot reach, that have not applied its settings, or that can be updated. The inventory below names them.',
          queries: [
            {
              expr: 'sum(filer_appliance_reachable{job="$job",filer=~`${filer:regex}`} == bool 0)',
              name: 'not reachable',
            },
            { expr: 'sum(filer_appliance_synced{job="$job",filer=~`${filer:regex}`} == bool 0)', name: 'not synced' },
            { expr: 'sum(filer_appliance_update_available{job="$job",filer=~`${filer:regex}`})', name: 'to update' },
          ],
          steps: ['green', [1, 'orange']],
          width: 12,
          height: 9,
          empty: 'No appliance is known',
        }),
        table({
          title: 'Inventory',
          help: 'What the portal knows of each appliance.',
          queries: [
            {
              expr: 'group by (filer, type, build, available_build) (filer_appliance_info{job="$job",filer=~`${filer:regex}`})',
              name: '',
            },
            {
              expr: 'group by (filer, location) (filer_appliance_location_info{job="$job",filer=~`${filer:regex}`})',
              name: '',
            },
            {
              expr: 'max by (filer) (filer_appliance_synced{job="$job",filer=~`${filer:regex}`})',
              name: 'Settings',
              unit: COUNT,
              mappings: yesNo('applied', 'not applied', 'orange'),
            },
          ],
          columns: [
            { label: 'filer', title: 'Appliance', link: 'filer' },
            { label: 'type', title: 'Type' },
            { label: 'build', title: 'Build' },
            { label: 'available_build', title: 'Available build' },
            { label: 'location', title: 'Location' },
          ],
          width: 24,
          height: 12,
          empty: 'No appliance is known',
        }),
      ],
    },
  ],
};

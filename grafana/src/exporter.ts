import { type Board, BYTES, chart, PER_SECOND, RATIO, SECONDS, stat, table } from './kit.ts';

/** The exporter itself, and the services as it sees them. */
export const exporter: Board = {
  uid: 'filer-exporter',
  title: 'Exporter',
  description: 'How old the data is, what the services answer, and what the exporter needs.',
  range: '6h',
  variables: [],
  top: [
    table({
      title: 'Services',
      help: 'For each service: the last success, the interval that the limits allow, the oldest data, and tasks that are overdue, or suspended for another reason than that there is nothing. The page /status of the exporter names them.',
      queries: [
        {
          expr: 'time() - sum by (api) (filer_exporter_last_success_timestamp_seconds{job="$job"})',
          name: 'Last success',
          unit: SECONDS,
        },
        {
          expr: 'sum by (api) (filer_exporter_effective_interval_seconds{job="$job"})',
          name: 'Interval',
          unit: SECONDS,
        },
        {
          expr: 'sum by (api) (filer_exporter_data_age_worst_seconds{job="$job"})',
          name: 'Oldest data',
          unit: SECONDS,
        },
        {
          expr: 'sum by (api) (filer_exporter_tasks_overdue{job="$job"})',
          name: 'Overdue',
          steps: ['green', [1, 'orange']],
        },
        {
          expr: 'sum by (api) (filer_exporter_tasks_suspended{job="$job",reason!="empty"})',
          name: 'Suspended',
          steps: ['green', [1, 'orange']],
        },
        { expr: 'sum by (api) (filer_exporter_daily_quota_remaining{job="$job"})', name: 'Daily quota left' },
      ],
      columns: [{ label: 'api', title: 'Service' }],
      width: 18,
      height: 5,
      empty: 'No service is known',
    }),
    table({
      title: 'Version',
      help: 'The running version.',
      query: 'filer_exporter_build_info{job="$job"}',
      columns: [
        { label: 'version', title: 'Version' },
        { label: 'revision', title: 'Revision' },
        { label: 'node_version', title: 'Node.js' },
      ],
      width: 6,
      height: 5,
      empty: 'No exporter is known',
    }),
  ],
  rows: [
    {
      title: 'Age of the data',
      panels: [
        chart({
          title: 'Oldest data',
          help: 'The longest time since a task succeeded, and the longest that is normal. If the first stays above the second, polls of some series fail: see /status.',
          queries: [
            { expr: 'filer_exporter_data_age_worst_seconds{job="$job"}', name: '{{api}}' },
            {
              expr: 'filer_exporter_effective_interval_seconds{job="$job"} + filer_exporter_configured_interval_seconds{job="$job"} / 2',
              name: '{{api}}, normal',
            },
          ],
          unit: SECONDS,
          width: 8,
          empty: 'No task is known',
        }),
        chart({
          title: 'Interval and cycle',
          help: 'The configured interval, the one that the limits allow, and how long the last cycle took. If the second is above the first, the fleet is too large for the limits, or other tools use them too.',
          queries: [
            { expr: 'filer_exporter_configured_interval_seconds{job="$job"}', name: '{{api}}, configured' },
            { expr: 'filer_exporter_effective_interval_seconds{job="$job"}', name: '{{api}}, allowed' },
            { expr: 'filer_exporter_cycle_duration_seconds{job="$job"}', name: '{{api}}, last cycle' },
          ],
          unit: SECONDS,
          width: 8,
          empty: 'No interval is known',
        }),
        chart({
          title: 'Suspended and overdue tasks',
          help: 'Suspended: a right or licence is missing, or the service has no such data. Overdue: polls keep failing. The page /status names each task and its error.',
          queries: [
            { expr: 'filer_exporter_tasks_suspended{job="$job"} > 0', name: '{{api}} suspended, {{reason}}' },
            { expr: 'filer_exporter_tasks_overdue{job="$job"} > 0', name: '{{api}} overdue' },
          ],
          width: 8,
          empty: 'No suspended or overdue task is known',
        }),
      ],
    },
    {
      title: 'Requests',
      panels: [
        chart({
          title: 'Requests by response',
          help: 'Requests by status, or by why there was no response. 429: the service throttles, and the exporter sends fewer requests by itself.',
          query: 'sum by (api, code) (rate(filer_exporter_requests_total{job="$job"}[$__rate_interval]))',
          name: '{{api}} {{code}}',
          unit: PER_SECOND,
          width: 8,
          empty: 'No request is known',
        }),
        chart({
          title: 'Response time, p90',
          help: 'Nine of ten responses took this time or less.',
          query:
            'histogram_quantile(0.9, sum by (api, le) (rate(filer_exporter_request_duration_seconds_bucket{job="$job"}[$__rate_interval])))',
          name: '{{api}}',
          unit: SECONDS,
          width: 8,
          empty: 'No response is known',
        }),
        chart({
          title: 'Request rate limit',
          help: 'Requests per second that the exporter allows itself now. It falls after a 429 and recovers slowly; if it stays low, other tools use the same limit.',
          query: 'filer_exporter_request_rate_limit{job="$job"}',
          name: '{{api}}',
          unit: PER_SECOND,
          width: 8,
          empty: 'No limit is known',
        }),
        chart({
          title: 'Daily quota left',
          help: 'Share of the requests of a day that are left. Near 0, data is polled less often.',
          query: 'filer_exporter_daily_quota_remaining{job="$job"} / filer_exporter_daily_quota_limit{job="$job"}',
          name: '{{api}}',
          unit: RATIO,
          width: 12,
          empty: 'No daily limit is known',
        }),
        chart({
          title: 'Unusable values, per hour',
          help: 'Values of the services that the exporter could not use, by reason. More than five an hour warn: run the doctor.',
          query: 'increase(filer_exporter_samples_dropped_total{job="$job"}[1h]) > 0',
          name: '{{api}} {{reason}}',
          steps: ['green', [5, 'orange']],
          width: 12,
          empty: 'No unusable value is known',
        }),
      ],
    },
    {
      title: 'The process',
      panels: [
        chart({
          title: 'Processor time',
          help: 'Share of one core that the exporter uses.',
          query: 'rate(process_cpu_seconds_total{job="$job"}[$__rate_interval])',
          name: 'exporter',
          unit: RATIO,
          width: 8,
          empty: 'No process is known',
        }),
        chart({
          title: 'Memory',
          help: 'Memory of the exporter. Compare it with the limit of the container or unit.',
          query: 'process_resident_memory_bytes{job="$job"}',
          name: 'exporter',
          unit: BYTES,
          width: 8,
          empty: 'No process is known',
        }),
        chart({
          title: 'State file and event memory, per hour',
          help: 'Failed reads and writes of the state file, and events that were forgotten because there are too many. Check the disk of the state file.',
          queries: [
            { expr: 'increase(filer_exporter_state_file_errors_total{job="$job"}[1h])', name: 'state file errors' },
            { expr: 'increase(filer_exporter_event_memory_evicted_total{job="$job"}[1h])', name: 'forgotten events' },
          ],
          steps: ['green', [1, 'orange']],
          width: 8,
          empty: 'No state file and no event is known',
        }),
      ],
    },
    {
      title: 'Remote write',
      folded: true,
      panels: [
        stat({
          title: 'Delivered up to',
          help: 'Age of the newest minute that the receiver has. After 20 minutes, read the log of the exporter and check the receiver.',
          query: 'time() - filer_exporter_remote_write_newest_timestamp_seconds{job="$job"}',
          unit: SECONDS,
          steps: ['green', [1200, 'orange']],
          width: 8,
          height: 8,
          empty: 'Remote write is off, or nothing has been delivered',
        }),
        chart({
          title: 'Points',
          help: 'Points that the receiver took, and points that were dropped, by reason.',
          queries: [
            {
              expr: 'rate(filer_exporter_remote_write_points_total{job="$job"}[$__rate_interval])',
              name: 'delivered',
            },
            {
              expr: 'rate(filer_exporter_remote_write_dropped_points_total{job="$job"}[$__rate_interval])',
              name: 'dropped, {{reason}}',
            },
          ],
          unit: PER_SECOND,
          width: 8,
          empty: 'Remote write is off',
        }),
        chart({
          title: 'History lost, per day',
          help: 'Time without history, of all series together, by reason.',
          query: 'increase(filer_exporter_remote_write_lost_seconds_total{job="$job"}[1d])',
          name: '{{reason}}',
          unit: SECONDS,
          width: 8,
          empty: 'Remote write is off',
        }),
      ],
    },
  ],
};

import { type Documented, type DocumentedFields, oneOf } from '../../doctor/documented.ts';
import { fieldNames } from '../../metrics/family.ts';
import { FEATURES } from './account/license.ts';
import { SEVERITY } from './account/notifications.ts';
import { furtherSeries, standardSeries } from './appliances/series.ts';
import { SNAPSHOT_STATUS } from './volumes/connections.ts';

/** The documented fields of every answer that is read, for the doctor; the exported ones are in the tables. */

const items = (record: DocumentedFields): DocumentedFields => ({ metadata: 'any?', items: [record] });
const point = (...fields: readonly string[]): DocumentedFields =>
  items({ time: 'milliseconds', ...Object.fromEntries(fields.map((field) => [field, 'decimal?' as const])) });

/** The series with records of minutes: the fields of their tables, but for the load, whose names are not documented. */
const minutes: Readonly<Record<string, DocumentedFields>> = Object.fromEntries(
  Object.entries({ ...standardSeries, ...furtherSeries }).map(([name, families]) => [
    name,
    point(...families.flatMap(fieldNames)),
  ]),
);

const SERIAL_TYPE = oneOf('edge', 'nmc', 'file_iq', 'naa', 'uaas');
const PAGE: DocumentedFields = {
  ...{ iterator_id: 'uuid?', page_size: 'integer', total_pages: 'integer?' },
  ...{ total_items: 'integer', page: 'integer?' },
};
const indexed: DocumentedFields = {
  ...{ volume_guid: 'text', volume_name: 'text', provider: 'text', status: 'text' },
  ...{ volume_region: 'text?', region: 'text?', file_count: 'integer?', volume_size: 'text?' },
};

/** The documented answer of each operation; operations without an entry are not compared. */
export const documentedAnswers: Readonly<Record<string, Documented>> = {
  ...minutes,
  load_average: {
    ...{ metadata: 'any?', num_cores: 'integer?' },
    items: [{ time: 'milliseconds', '*': 'decimal?' }],
  },
  current_appliance_performance: {
    ...{
      metadata: 'any?',
      cpu_util: 'decimal?',
      available_memory: 'decimal?',
      fifteen_minute_load_average: 'decimal?',
    },
    ...{ uptime: 'integer?', num_cores: 'integer?', time: 'milliseconds?' },
  },
  appliance_health_score: {
    ...{ serial_number: 'text', appliance_name: 'text', health_score: 'text' },
    statistics: { cpu_count: 'integer', avg_load: 'decimal', max_load: 'decimal' },
    description: { health_status: 'text?', overview: 'text?' },
    raw_data: { title: 'text?', column_names: ['text'], data: [{ time: 'milliseconds', value: 'decimal?' }] },
    ...{ anomaly_details: 'any?', metadata: 'any?' },
  },
  serials: items({
    ...{ id: 'uuid', type: SERIAL_TYPE, in_use: 'flag', description: 'text?', build: 'text?' },
    ...{ available_build: 'text?', users: 'integer?', fqdns: 'any?', last_config_backup_date: 'text?' },
  }),
  edges: items({
    ...{ id: 'uuid', description: 'text', serial: 'uuid', build: 'text', synced: 'flag', is_reachable: 'flag' },
    ...{ services: { s3_edge: 'flag?', file_iq: 'flag?' }, last_seen_at: 'date?' },
  }),
  fiq_appliances: items({
    ...{ serial_number: 'uuid', id: 'uuid', description: 'text', build: 'text', enabled: 'flag' },
    connections: {
      edges: [{ serial_number: 'uuid', id: 'uuid', build: 'text', description: 'text', fiq_service_enabled: 'flag' }],
    },
  }),
  volume_connections: items({
    ...{ volume_id: 'text', volume_name: 'text', appliance_id: 'text', appliance_name: 'text' },
    ...{ role: oneOf('owner', 'connected'), accessible_data: 'integer?', unprotected_data: 'integer?' },
    ...{
      last_snapshot_utc: 'date?',
      current_snapshot_status: oneOf(...SNAPSHOT_STATUS),
      status: 'text?',
      cloud_provider: 'text?',
    },
    ...{ cloud_region: 'text?', protocol: 'any?', permission_policy: 'text?', security_mode: 'text?' },
    ...{ connection_permission: 'text?', appliance_hostname: 'text?', is_readonly: 'flag?', share_count: 'integer?' },
    ...{ export_count: 'integer?', ftp_dir_count: 'integer?', pinned_folders_count: 'integer?' },
    ...{ autofault_folders_count: 'integer?', snapshot_start: 'integer?', snapshot_stop: 'integer?' },
    ...{ snapshot_frequency: 'integer?', snapshot_days: 'any?', sync_schedule: 'any?' },
  }),
  snapshot_details: items({
    ...{ appliance: 'text', serial_number: 'text', volume: 'text', time: 'milliseconds' },
    ...{ metadata_snapshot_start: 'milliseconds', metadata_snapshot_end: 'milliseconds' },
    ...{ dir_count: 'integer', volume_version: 'integer', protect_mean: 'decimal?', protect_max: 'decimal?' },
    ...{ data_snapshot_start: 'milliseconds?', data_snapshot_end: 'milliseconds?', oud: 'integer?' },
    ...{ file_count_ngl: 'integer?', file_count_gl: 'integer?', file_count_total: 'integer?' },
  }),
  account_license: {
    ...Object.fromEntries(FEATURES.map((feature) => [feature, 'flag' as const])),
    ...{ subscription_status: 'text', subscription_expiration: 'date?', anonymize_third_party_analytics: 'flag' },
    ...{ max_now_storage: 'integer', max_cloud_storage: 'integer', byoc_clouds: 'any' },
  },
  account_ai_activate: { mcp: { subscribed_limit: 'integer', consumed: 'integer', remaining: 'integer' } },
  ai_activate_inventories: items(indexed),
  ai_activate_indexes: items(indexed),
  notifications: {
    metadata: PAGE,
    items: [
      {
        ...{ id: 'text', account_id: 'uuid', severity: oneOf(...SEVERITY.known), code_name: 'text', message: 'text' },
        ...{ created_at: 'date', generated_at: 'date', category: 'text?', sub_category: 'text?', source: 'text?' },
        ...{ appliance_name: 'text?', volume_name: 'text?', arguments: 'any?', linked_doc: 'text?' },
      },
    ],
  },
  jobs: items({
    ...{ id: 'text', created_at: 'date', resource: oneOf('edge', 'volume', 'cloud_credential'), action: 'text' },
    ...{ executor: 'text', initiated_by: oneOf('portal', 'edge'), last_updated_at: 'date', resource_id: 'text?' },
    ...{ state: oneOf('in_progress', 'completed', 'failed'), executor_id: 'text?', initiator_id: 'text?' },
    ...{ activity_log_id: 'uuid?', reason: 'text?', user_acknowledged_at: 'date?', deletion_time: 'date?' },
  }),
  cloud_credentials: {
    metadata: PAGE,
    items: [
      {
        ...{ id: 'text', appliance_id: 'text', appliance_serial: 'uuid', appliance_name: 'text' },
        ...{ appliance_credential_uuid: 'text', name: 'text', shortname: 'text', cred_type: 'text' },
        ...{ hostname: 'text', access_key: 'text', vendor: 'text', created_at: 'date', updated_at: 'date' },
        ...{ status: oneOf('synced', 'pending', 'failed', 'creating'), note: 'text?', certificate: 'text?' },
        ...{ region_code: 'text?', verify_certificates: 'flag?', is_stub: 'flag?' },
        ...{ volumes: [{ volume_id: 'text', name: 'text' }], error: 'any?' },
      },
    ],
  },
  gfa_api_keys: items({ key: 'uuid', created: 'date', last_used: 'date?' }),
};

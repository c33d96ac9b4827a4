/** The metrics that the judge reads, named once. */
export const API_UP = 'filer_api_up';
export const DOWN_REASON = 'filer_api_down_info';
export const APPLIANCE_UP = 'filer_appliance_up';
export const STATE = 'filer_appliance_state';
export const SERIES_TIME = 'filer_appliance_series_timestamp_seconds';
export const EFFECTIVE_INTERVAL = 'filer_exporter_effective_interval_seconds';
export const ROUND = 'filer_exporter_sweep_duration_seconds';
export const CHECK_INS = [
  'filer_last_checkin_timestamp_seconds',
  'filer_volume_last_checkin_timestamp_seconds',
] as const;
export const TELEMETRY_LICENCE = ['filer_license_feature_enabled', { feature: 'ops_iq_premium' }] as const;

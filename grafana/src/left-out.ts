/** Metrics that are on no dashboard on purpose, each with the reason. */
export const leftOut: Readonly<Record<string, string>> = {
  filer_api_down_info: 'new: the reason beside filer_api_up on the exporter’s own board, to be drawn',
  filer_appliance_state: 'new: reporting, no_records or unavailable, to be drawn beside filer_appliance_up',
  filer_appliance_last_record_timestamp_seconds: 'new: beside filer_appliance_state, to be drawn',
  filer_exporter_upstream_variant_info: 'which units an account uses: the doctor and the status page tell',
  filer_exporter_web_tls_enabled: 'how the exporter is configured: for an alert of one’s own where TLS is a must',
  filer_exporter_web_auth_enabled:
    'how the exporter is configured: for an alert of one’s own where a password is a must',
  filer_exporter_web_connections_closed_total:
    'how the clients of the exporter behave: looked at after its line in the log',
};

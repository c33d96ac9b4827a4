/** Metrics that are on no dashboard on purpose, each with the reason. */
export const leftOut: Readonly<Record<string, string>> = {
  filer_appliance_up: 'for alerts: 1 just while filer_appliance_state is reporting, which dashboards show in words',
  filer_exporter_inventory_gap_info:
    'a list that is missing or empty: the alert, the status page and the doctor say which',
  filer_exporter_account_throttled:
    'for the alert: the boards have the request rate and the rejections that it is read from',
  filer_exporter_clock_skew_seconds: 'for the alert, which names the difference, as the status page does',
  filer_exporter_web_tls_enabled: 'how the exporter is configured: for an alert of one’s own where TLS is a must',
  filer_exporter_web_auth_enabled:
    'how the exporter is configured: for an alert of one’s own where a password is a must',
  filer_exporter_web_connections_closed_total:
    'how the clients of the exporter behave: looked at after its line in the log',
};

import { catalog } from '../../src/catalog.ts';

/** The metrics that the demo does not have, each with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  filer_api_down_info: 'only while a service is down, and those of the demo are up',
  filer_exporter_warning_info: 'only while something is wrong with a whole service',
  ...Object.fromEntries(
    catalog
      .filter(({ name }) => name.startsWith('filer_exporter_remote_write_'))
      .map(({ name }) => [name, 'only with REMOTE_WRITE_URL']),
  ),
  filer_exporter_state_file_saved_timestamp_seconds: 'only with STATE_FILE, and the demo leaves nothing behind',
  filer_exporter_inventory_gap_info: 'only where a list of the inventory cannot be read, or lacks what another has',
  filer_exporter_upstream_variant_info: 'only where an account answers otherwise than documented',
  filer_exporter_web_config_last_reload_successful: 'only with WEB_CONFIG_FILE',
  filer_exporter_web_config_last_reload_success_timestamp_seconds: 'only with WEB_CONFIG_FILE',
  filer_exporter_web_certificate_expiry_timestamp_seconds: 'only with TLS',
};

/** Every metric that the demo shows once everything has been polled: it writes to no other place. */
export const demoCatalog = catalog.filter(
  ({ name }) => !Object.hasOwn(WITHOUT, name) && !name.startsWith('filer_exporter_remote_write_'),
);

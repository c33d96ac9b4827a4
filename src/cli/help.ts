export function usage(variables: string): string {
  return `filer-exporter: Prometheus exporter for a global file system's cloud services

Usage: filer-exporter [option]

Without an option it polls the configured services and serves the metrics until it is stopped.

Options:
  --demo           serve a simulated fleet that needs no configuration, of which one appliance is off; with --trouble
                   much else fails too, with --like FILE the services answer as in a doctor's report
  --doctor         check the configuration against the services, line by line; exit 0, or 1 on a failure;
                   --json prints JSON, --report FILE writes a report that is safe to publish
  --check-config   check the configuration, its files and folders, print it with secrets masked; exit 0, or 78
                   when it is not valid
  --once           poll everything once, print the exposition; exit 0, or 1 when nothing could be polled;
                   uses its own client key, so that a running exporter loses no event
  --plan           print what the limits allow for the account's appliances, or with --appliances N for N of them;
                   exit 0, or 1 when the interval cannot be met
  --backfill       print the history of --since 30d as OpenMetrics, for promtool tsdb create-blocks-from openmetrics;
                   what it has read is kept in --work DIR, so that the same command goes on after an interruption;
                   --until 2d ends it earlier, --labels job=…,instance=… puts labels on every series, --filers and
                   --series choose some, --share 50% is the part of the limits that it uses; exit 0, or 1 when
                   something is missing
  --version, -v    print version, revision, Node.js and platform
  --help, -h       print this text
  --web.listen-address, --web.config.file
                   the same as LISTEN_ADDRESS and WEB_CONFIG_FILE, before which they count

Environment:

${variables}`;
}

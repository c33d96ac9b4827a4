export function usage(variables: string): string {
  return `filer-exporter: Prometheus exporter for a global file system's cloud services

Usage: filer-exporter [option]

Without an option it polls the configured services and serves the metrics until it is stopped.

Options:
  --demo           serves a simulated fleet that needs no configuration, of which one appliance is off;
                   with --trouble about ten things fail
  --doctor         checks the configuration against the services, line by line; exit 0, or 1 after a failure;
                   --json prints JSON
  --check-config   checks the configuration, its files and folders, and prints it with secrets masked; exit 0,
                   or 78 if it is not valid
  --once           polls everything once and prints the exposition; exit 0, or 1 if nothing could be polled;
                   it has its own client key, so that a running exporter loses no event
  --plan           prints what the limits allow for the account's appliances, or for N with --appliances N;
                   exit 0, or 1 if the interval cannot be met
  --version, -v    prints version, revision, Node.js and platform
  --help, -h       prints this text
  --web.listen-address, --web.config.file
                   override LISTEN_ADDRESS and WEB_CONFIG_FILE

Environment:

${variables}`;
}

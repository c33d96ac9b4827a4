import { isSecret, type NamedVariable } from '../config/table.ts';

export function usage(rows: readonly NamedVariable[]): string {
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

Environment variables, also read from .env in the working directory:

${variableLines(rows).join('')}
Durations are Prometheus durations: 500ms, 15s, 5m, 1h30m.
(file): NAME_FILE may instead be the path of a file with the value.
HTTP_PROXY, HTTPS_PROXY, NO_PROXY and NODE_EXTRA_CA_CERTS are honoured.
`;
}

function variableLines(rows: readonly NamedVariable[]): readonly string[] {
  const width = Math.max(...rows.map(({ name }) => name.length)) + 2;
  return rows.map(({ name, row }) => {
    const byDefault = row.default ?? row.unset;
    const facts = `${row.format.label}${isSecret(row) ? ' (file)' : ''}${byDefault ? `; default: ${byDefault}` : ''}`;
    return `  ${name.padEnd(width)}${facts}\n  ${' '.repeat(width)}${row.help}\n`.replaceAll('`', '');
  });
}

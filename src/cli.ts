import { ConfigError } from './runtime/errors.ts';

/** What the command line asks for. */
export type Command = 'run' | 'demo' | 'once' | 'check-config' | 'help' | 'version';

/** How the process ended; what service managers and scripts test. */
export const EXIT = { clean: 0, failure: 1, configuration: 78 } as const;

const FLAGS: ReadonlyMap<string, Command> = new Map([
  ['--demo', 'demo'],
  ['--once', 'once'],
  ['--check-config', 'check-config'],
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
]);

/** The command that the arguments name. Throws a ConfigError for what is not one. */
export function parseArguments(args: readonly string[]): Command {
  const commands = args.map((argument) => {
    const command = FLAGS.get(argument);
    if (command === undefined) throw new ConfigError([`${argument}: unknown option; --help lists what there is`]);
    return command;
  });
  if (commands.includes('help')) return 'help';
  const [command = 'run', ...others] = [...new Set(commands)];
  if (others.length > 0) throw new ConfigError([`${args.join(' ')}: only one of these options can be given`]);
  return command;
}

/** The text of `--help`; `variables` is the part about the environment. */
export function usage(variables: string): string {
  return `filer-exporter: Prometheus exporter for a global file system's cloud services

Usage: filer-exporter [option]

Without an option it polls what the environment configures and serves it until it is stopped.

Options:
  --demo           serve a live fleet that is made up: nothing to configure
  --check-config   check the configuration, print it with secrets masked; exit 0, or 78 when it is not valid
  --once           poll everything once, print the exposition; exit 0, or 1 when nothing could be polled
  --version        print the version
  --help           print this

Environment:

${variables}`;
}

import { ConfigError } from '../runtime/errors.ts';

/** What the command line asks for. */
export type Command = 'run' | 'demo' | 'once' | 'plan' | 'check-config' | 'help' | 'version';

/** A command and what it was given. */
export interface Invocation {
  readonly command: Command;
  /** Of `--plan`: so many instead of those of the account. */
  readonly appliances?: number;
}

/** How the process ended; what service managers and scripts test. */
export const EXIT = { clean: 0, failure: 1, configuration: 78 } as const;

const FLAGS: ReadonlyMap<string, Command> = new Map([
  ['--demo', 'demo'],
  ['--once', 'once'],
  ['--plan', 'plan'],
  ['--check-config', 'check-config'],
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
]);

/** The command that the arguments name. Throws a ConfigError for what is not one. */
export function parseArguments(args: readonly string[]): Invocation {
  const commands = new Set<Command>();
  let appliances: number | undefined;
  const left = args.flatMap((argument) => argument.split(/=(.*)/s, 2));
  for (let argument = left.shift(); argument !== undefined; argument = left.shift()) {
    const command = FLAGS.get(argument);
    if (command !== undefined) commands.add(command);
    else if (argument === '--appliances') appliances = applianceCount(left.shift());
    else throw new ConfigError([`${argument}: unknown option; --help lists what there is`]);
  }
  if (commands.has('help')) return { command: 'help' };
  const [command = 'run', ...others] = commands;
  if (others.length > 0) throw new ConfigError([`${args.join(' ')}: only one of these options can be given`]);
  if (appliances === undefined) return { command };
  if (command !== 'plan') throw new ConfigError(['--appliances: goes with --plan only']);
  return { command, appliances };
}

function applianceCount(text: string | undefined): number {
  if (text !== undefined && /^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new ConfigError([`--appliances: ${text ?? 'nothing'} is no number of appliances; expected 1 to 9999999`]);
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
  --plan           print what the limits allow for this account's appliances, or with --appliances N for so many;
                   exit 0, or 1 when PORTAL_INTERVAL cannot be met
  --version        print the version
  --help           print this

Environment:

${variables}`;
}

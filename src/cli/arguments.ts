import { ConfigError } from '../runtime/errors.ts';

/** What the command line asks for. */
export type Command = 'run' | 'demo' | 'once' | 'plan' | 'check-config' | 'doctor' | 'help' | 'version';

/** A command and what it was given. */
export interface Invocation {
  readonly command: Command;
  /** Of `--plan`: so many instead of those of the account. */
  readonly appliances?: number;
  readonly doctor?: DoctorOptions;
  /** Of `--demo`: the path of a doctor's report, whose account the stand-in then answers as. */
  readonly like?: string;
}

/** What `--doctor` was given. */
export interface DoctorOptions {
  /** The findings as JSON in place of a check list. */
  readonly isJson: boolean;
  /** Where to write a report that is safe to publish. */
  readonly reportPath: string | undefined;
  /** Examines the demo's services. */
  readonly isDemo: boolean;
}

/** How the process ended; what service managers and scripts test. */
export const EXIT = { clean: 0, failure: 1, configuration: 78 } as const;

const FLAGS: ReadonlyMap<string, Command> = new Map([
  ['--demo', 'demo'],
  ['--once', 'once'],
  ['--plan', 'plan'],
  ['--check-config', 'check-config'],
  ['--doctor', 'doctor'],
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
]);

/** The command that the arguments name. Throws a ConfigError for what is not one. */
export function parseArguments(args: readonly string[]): Invocation {
  const commands = new Set<Command>();
  let appliances: number | undefined;
  let isJson = false;
  const paths = new Map<string, string>();
  const left = args.flatMap((argument) => argument.split(/=(.*)/s, 2));
  for (let argument = left.shift(); argument !== undefined; argument = left.shift()) {
    const command = FLAGS.get(argument);
    if (command !== undefined) commands.add(command);
    else if (argument === '--appliances') appliances = applianceCount(left.shift());
    else if (argument === '--json') isJson = true;
    else if (argument === '--report' || argument === '--like') paths.set(argument, pathOf(argument, left.shift()));
    else throw new ConfigError([`${argument}: unknown option; --help lists what there is`]);
  }
  if (commands.has('help')) return { command: 'help' };
  if (commands.has('doctor')) {
    const isDemo = commands.delete('demo');
    if (commands.size > 1 || appliances !== undefined || paths.has('--like')) throw onlyOne(args);
    return { command: 'doctor', doctor: { isJson, reportPath: paths.get('--report'), isDemo } };
  }
  if (isJson || paths.has('--report')) throw new ConfigError(['--json and --report: go with --doctor only']);
  const like = paths.get('--like');
  const [command = 'run', ...others] = commands;
  if (like !== undefined) {
    if (command !== 'demo') throw new ConfigError(['--like: goes with --demo only']);
    return { command, like };
  }
  if (others.length > 0) throw onlyOne(args);
  if (appliances === undefined) return { command };
  if (command !== 'plan') throw new ConfigError(['--appliances: goes with --plan only']);
  return { command, appliances };
}

function onlyOne(args: readonly string[]): ConfigError {
  return new ConfigError([`${args.join(' ')}: only one of these options can be given`]);
}

function pathOf(option: string, path: string | undefined): string {
  if (path !== undefined && path !== '') return path;
  throw new ConfigError([`${option}: expected the path of a file`]);
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
  --demo           serve a live fleet that is made up: nothing to configure; with --like FILE the services answer as in
                   a doctor's report
  --doctor         check the configuration against the services themselves, line by line; exit 0, or 1 on a failure;
                   --json prints JSON, --report FILE writes a report that is safe to publish
  --check-config   check the configuration, its files and folders, print it with secrets masked; exit 0, or 78
                   when it is not valid
  --once           poll everything once, print the exposition; exit 0, or 1 when nothing could be polled;
                   with a client key of its own, so that a running exporter loses no event
  --plan           print what the limits allow for this account's appliances, or with --appliances N for so many;
                   exit 0, or 1 when PORTAL_INTERVAL cannot be met
  --version        print the version
  --help           print this

Environment:

${variables}`;
}

import { parseArgs } from 'node:util';
import { asError, ConfigError } from '../runtime/errors.ts';

/** The exit codes, which service managers and scripts test. */
export const EXIT = { clean: 0, failure: 1, configuration: 78 } as const;

const COMMANDS = ['demo', 'once', 'plan', 'check-config', 'doctor', 'help', 'version'] as const;

type Command = (typeof COMMANDS)[number];

/** The command that each option belongs to. */
const OPTIONS = { trouble: 'demo', json: 'doctor', appliances: 'plan' } as const;

/** Flags that every exporter has, and the variables that they set; for every command. */
const VARIABLES = { 'web.listen-address': 'LISTEN_ADDRESS', 'web.config.file': 'WEB_CONFIG_FILE' } as const;

/** With `doctor`, `demo` is an option too. */
export interface Options {
  readonly trouble?: boolean;
  readonly json?: boolean;
  readonly appliances?: string;
  readonly demo?: boolean;
}

export interface Invocation {
  readonly command: Command | 'run';
  readonly options: Options;
  /** Variables that flags set, in place of those of the environment. */
  readonly variables: Readonly<Record<string, string>>;
}

const SHORT: Readonly<Record<string, string>> = { help: 'h', version: 'v' };
const WITH_VALUE: readonly string[] = ['appliances', ...Object.keys(VARIABLES)];

const known = Object.fromEntries(
  [...COMMANDS, ...Object.keys(OPTIONS), ...Object.keys(VARIABLES)].map((name) => [
    name,
    { type: WITH_VALUE.includes(name) ? 'string' : 'boolean', ...(SHORT[name] && { short: SHORT[name] }) } as const,
  ]),
);

function optionsIn(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: known }).values;
  } catch (error) {
    // What Node says further is about options that programs define otherwise.
    const [message] = asError(error).message.split(/\. |\n/);
    throw new ConfigError([`${message}; --help lists the options`]);
  }
}

export function parseArguments(args: readonly string[]): Invocation {
  const values = optionsIn(args);
  if (values.help) return { command: 'help', options: {}, variables: {} };
  const given = COMMANDS.filter((name) => values[name] && (name !== 'demo' || !values.doctor));
  const [command = 'run', ...others] = given;
  if (others.length > 0) {
    throw new ConfigError([`${args.join(' ')}: only one of these options can be given`]);
  }
  for (const [name, owner] of Object.entries(OPTIONS)) {
    if (values[name] !== undefined && command !== owner) {
      throw new ConfigError([`--${name}: can only be used with --${owner}`]);
    }
  }
  const variables = Object.entries(VARIABLES).filter(([name]) => values[name] !== undefined);
  return {
    command,
    options: values as Options,
    variables: Object.fromEntries(variables.map(([name, variable]) => [variable, String(values[name])])),
  };
}

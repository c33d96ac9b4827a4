import { parseArgs } from 'node:util';
import { asError, ConfigError } from '../runtime/errors.ts';

/** The exit codes, which service managers and scripts test. */
export const EXIT = { clean: 0, failure: 1, configuration: 78 } as const;

const COMMANDS = ['demo', 'once', 'plan', 'check-config', 'doctor', 'help', 'version'] as const;

/** The command that each other option belongs to. With `doctor`, `demo` is an option too. */
const OWNERS = { trouble: 'demo', json: 'doctor', appliances: 'plan' } as const;

const FLAG = { type: 'boolean' } as const;

const KNOWN = {
  demo: FLAG,
  once: FLAG,
  plan: FLAG,
  'check-config': FLAG,
  doctor: FLAG,
  help: { ...FLAG, short: 'h' },
  version: { ...FLAG, short: 'v' },
  trouble: FLAG,
  json: FLAG,
  appliances: { type: 'string' },
} as const;

export type Options = ReturnType<typeof optionsIn>;

export interface Invocation {
  readonly command: (typeof COMMANDS)[number] | 'run';
  readonly options: Options;
}

export function parseArguments(args: readonly string[]): Invocation {
  const options = optionsIn(args);
  if (options.help) return { command: 'help', options };
  const given = COMMANDS.filter((name) => options[name] && (name !== 'demo' || !options.doctor));
  const [command = 'run', ...others] = given;
  if (others.length > 0) {
    throw new ConfigError([`${args.join(' ')}: only one of these options can be given`]);
  }
  for (const name of ['trouble', 'json', 'appliances'] as const) {
    if (options[name] !== undefined && command !== OWNERS[name]) {
      throw new ConfigError([`--${name}: can only be used with --${OWNERS[name]}`]);
    }
  }
  return { command, options };
}

function optionsIn(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: KNOWN }).values;
  } catch (error) {
    // What Node says further is about options that programs define otherwise.
    const [message] = asError(error).message.split(/\. |\.?\n/);
    throw new ConfigError([`${message}; --help lists the options`]);
  }
}

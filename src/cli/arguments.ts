import { parseArgs } from 'node:util';
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

const COMMANDS = ['demo', 'once', 'plan', 'check-config', 'doctor', 'help', 'version'] as const;

/** What goes with some command: the command, and what it expects where it takes a value. */
const FURTHER = {
  appliances: { of: 'plan', value: 'a number of appliances from 1 to 9999999' },
  like: { of: 'demo', value: 'the path of a file' },
  report: { of: 'doctor', value: 'the path of a file' },
  json: { of: 'doctor', value: undefined },
} as const;

const options = Object.fromEntries([
  ...COMMANDS.map((name) => [name, { type: 'boolean', ...(name === 'help' && { short: 'h' }) }] as const),
  ...Object.entries(FURTHER).map(([name, { value }]) => [name, { type: value ? 'string' : 'boolean' }] as const),
]);

/** The command that the arguments name. Throws a ConfigError for what is not one. */
export function parseArguments(args: readonly string[]): Invocation {
  // Not strict: the faults are told in our own words.
  const { values, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind !== 'option' || !Object.hasOwn(options, token.name)) throw unknown(args[token.index] ?? '');
    if (options[token.name]?.type === 'boolean' && token.value !== undefined) throw unknown(args[token.index] ?? '');
  }
  if (values.help) return { command: 'help' };
  const isDemo = values.doctor === true && values.demo === true;
  const [command = 'run', ...others] = COMMANDS.filter((name) => values[name] && !(isDemo && name === 'demo'));
  if (others.length > 0) {
    throw new ConfigError([`${args.join(' ')}: only one of these options can be given`]);
  }
  for (const [name, { of, value }] of Object.entries(FURTHER)) {
    if (values[name] === undefined) continue;
    if (command !== of) throw new ConfigError([`--${name}: goes with --${of} only`]);
    const text = values[name];
    if (value && (typeof text !== 'string' || text === '')) throw new ConfigError([`--${name}: expected ${value}`]);
  }
  const { appliances, like, report, json } = values;
  return {
    command,
    ...(typeof appliances === 'string' && { appliances: applianceCount(appliances) }),
    ...(typeof like === 'string' && { like }),
    ...(command === 'doctor' && {
      doctor: { isJson: json === true, reportPath: typeof report === 'string' ? report : undefined, isDemo },
    }),
  };
}

function unknown(argument: string): ConfigError {
  return new ConfigError([`${argument}: unknown option; --help lists what there is`]);
}

function applianceCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new ConfigError([`--appliances: ${text} is not a number of appliances; expected 1 to 9999999`]);
}

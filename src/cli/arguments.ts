import { parseArgs } from 'node:util';
import { ConfigError } from '../runtime/errors.ts';
import { likelyTypo } from '../runtime/suggest.ts';

/** The exit codes, which service managers and scripts test. */
export const EXIT = { clean: 0, failure: 1, configuration: 78 } as const;

/** The commands, and the options of each with the value that an option expects; a flag expects none. */
const COMMANDS = {
  demo: { trouble: undefined },
  once: {},
  plan: { appliances: 'a number of appliances from 1 to 9999999' },
  'check-config': {},
  doctor: { json: undefined },
  help: {},
  version: {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, string | undefined>>>>;

/** Flags that every exporter has, and the variables that they set; for every command. */
const VARIABLES = { 'web.listen-address': 'LISTEN_ADDRESS', 'web.config.file': 'WEB_CONFIG_FILE' } as const;

const SHORT: Readonly<Record<string, string>> = { help: 'h', version: 'v' };

type Command = keyof typeof COMMANDS;

type OptionName = { [Name in Command]: keyof (typeof COMMANDS)[Name] }[Command];

/** The options of the command, which has no others. With `doctor`, `demo` is an option too. */
export interface Options extends Readonly<Partial<Record<Exclude<OptionName, 'json' | 'trouble'>, string>>> {
  readonly json?: boolean;
  readonly trouble?: boolean;
  readonly demo?: boolean;
}

export interface Invocation {
  readonly command: Command | 'run';
  readonly options: Options;
  /** Variables that flags set, in place of those of the environment. */
  readonly variables: Readonly<Record<string, string>>;
}

const COMMAND_NAMES = Object.keys(COMMANDS) as readonly Command[];

const options = Object.fromEntries([
  ...COMMAND_NAMES.map((name) => [name, { type: 'boolean', ...(SHORT[name] && { short: SHORT[name] }) }] as const),
  ...Object.keys(VARIABLES).map((name) => [name, { type: 'string' }] as const),
  ...Object.values(COMMANDS)
    .flatMap((own) => Object.entries<string | undefined>(own))
    .map(([name, value]) => [name, { type: value === undefined ? 'boolean' : 'string' }] as const),
]);

export function parseArguments(args: readonly string[]): Invocation {
  // parseArgs is not strict here, because the errors below say what was meant.
  const { values, tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const names = new Set<string>();
  for (const token of tokens) {
    const isKnown = token.kind === 'option' && Object.hasOwn(options, token.name);
    if (isKnown && names.has(token.name) && options[token.name]?.type === 'string') {
      throw new ConfigError([`--${token.name}: is given twice; expected one value`]);
    }
    if (isKnown) names.add(token.name);
    if (isKnown && (token.value === undefined || options[token.name]?.type === 'string')) continue;
    const meant = token.kind === 'option' ? likelyTypo(token.name, Object.keys(options)) : undefined;
    const hint = meant === undefined ? '--help lists the options' : `did you mean --${meant}?`;
    throw new ConfigError([`${args[token.index] ?? ''}: unknown option; ${hint}`]);
  }
  if (values.help) return { command: 'help', options: {}, variables: {} };
  const given = COMMAND_NAMES.filter((name) => values[name]);
  const [command = 'run', ...others] = given.filter((name) => name !== 'demo' || !values.doctor);
  if (others.length > 0) {
    throw new ConfigError([`${args.join(' ')}: only one of these options can be given`]);
  }
  for (const [owner, own] of Object.entries(COMMANDS)) {
    for (const [name, value] of Object.entries<string | undefined>(own)) {
      const text = values[name];
      if (text === undefined) continue;
      if (command !== owner) throw new ConfigError([`--${name}: can only be used with --${owner}`]);
      if (value && (text === true || text === '')) throw new ConfigError([`--${name}: expected ${value}`]);
    }
  }
  const variables: Record<string, string> = {};
  for (const [name, variable] of Object.entries(VARIABLES)) {
    const text = values[name];
    if (text === undefined) continue;
    if (typeof text !== 'string' || text === '') throw new ConfigError([`--${name}: expected a value of ${variable}`]);
    variables[variable] = text;
  }
  return { command, options: values as Options, variables };
}

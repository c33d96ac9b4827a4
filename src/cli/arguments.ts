import { parseArgs } from 'node:util';
import type { BackfillWish } from '../app/backfill.ts';
import { entriesOf, type Kind } from '../config/kind.ts';
import { duration } from '../config/kinds.ts';
import { labelPairs } from '../config/remote-write.ts';
import { LONGEST_PAST_MS } from '../history/backfill.ts';
import { ConfigError } from '../runtime/errors.ts';

export type Command = 'run' | 'demo' | 'once' | 'plan' | 'check-config' | 'doctor' | 'backfill' | 'help' | 'version';

export interface Invocation {
  readonly command: Command;
  /** With `--plan`: this number instead of the account's appliances. */
  readonly appliances?: number;
  readonly doctor?: DoctorOptions;
  /** With `--demo`: the path of a doctor's report, whose alternatives the stand-in then uses. */
  readonly like?: string;
  readonly backfill?: BackfillOptions;
}

/** Labels are undefined for those of remote write, where there are some. */
export type BackfillOptions = Omit<BackfillWish, 'labels'> & { readonly labels: BackfillWish['labels'] | undefined };

export interface DoctorOptions {
  /** Prints the findings as JSON instead of a check list. */
  readonly isJson: boolean;
  /** The path for a report that is safe to publish. */
  readonly reportPath: string | undefined;
  /** Examines the demo's services. */
  readonly isDemo: boolean;
}

/** The exit codes, which service managers and scripts test. */
export const EXIT = { clean: 0, failure: 1, configuration: 78 } as const;

const COMMANDS = ['demo', 'once', 'plan', 'check-config', 'doctor', 'backfill', 'help', 'version'] as const;

/** Options that belong to a command: the command, and what value they expect, if any. */
const FURTHER = {
  appliances: { of: 'plan', value: 'a number of appliances from 1 to 9999999' },
  like: { of: 'demo', value: 'the path of a file' },
  report: { of: 'doctor', value: 'the path of a file' },
  json: { of: 'doctor', value: undefined },
  since: { of: 'backfill', value: 'a duration such as 30d' },
  until: { of: 'backfill', value: 'a duration such as 2d' },
  labels: { of: 'backfill', value: 'label names and values, such as job=filer-exporter,instance=filer-exporter:9989' },
  filers: { of: 'backfill', value: 'names or ids of appliances, with commas' },
  series: { of: 'backfill', value: 'names of series, with commas' },
  share: { of: 'backfill', value: 'a part of the limits such as 50%' },
  work: { of: 'backfill', value: 'the path of a folder' },
} as const;

/** Beside a daemon, half of the limits are not too much. */
const USUAL_SHARE = '50%';

/** Where answers are kept until everything is there. */
const USUAL_FOLDER = 'filer-exporter-backfill';

/** The shortest period that is worth a backfill: what one poll brings, in milliseconds. */
const SHORTEST_PAST_MS = 900_000;

const options = Object.fromEntries([
  ...COMMANDS.map((name) => [name, { type: 'boolean', ...(name === 'help' && { short: 'h' }) }] as const),
  ...Object.entries(FURTHER).map(([name, { value }]) => [name, { type: value ? 'string' : 'boolean' }] as const),
]);

/** The command in the arguments. Throws a ConfigError for invalid arguments. */
export function parseArguments(args: readonly string[]): Invocation {
  // Not strict: the faults have our own messages.
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
    if (command !== of) throw new ConfigError([`--${name}: can only be used with --${of}`]);
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
    ...(command === 'backfill' && { backfill: backfillOptions((name) => textOf(values[name])) }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function backfillOptions(text: (name: keyof typeof FURTHER) => string | undefined): BackfillOptions {
  const ago = duration({ least: 0, most: LONGEST_PAST_MS }, '30d');
  const read = <Value>(name: keyof typeof FURTHER, kind: Kind<Value>): Value | undefined => {
    const given = text(name);
    const parsed = given === undefined ? undefined : kind.parse(given);
    if (parsed?.state !== 'bad') return parsed?.value;
    throw new ConfigError(parsed.flaws.map(({ what }) => `--${name}: ${what}; expected ${kind.expects}`));
  };
  const [sinceMs, untilMs = 0] = [read('since', ago), read('until', ago)];
  if (sinceMs === undefined) throw new ConfigError(['--backfill: expected --since with a duration such as 30d']);
  if (sinceMs - untilMs < SHORTEST_PAST_MS) {
    throw new ConfigError(['--since: expected at least 15m before --until, which is now where it is not given']);
  }
  const list = (name: 'filers' | 'series') => {
    const given = text(name);
    return given === undefined ? undefined : entriesOf(given);
  };
  return {
    ...{ sinceMs, untilMs, labels: read('labels', labelPairs), filers: list('filers'), series: list('series') },
    share: partOf(text('share') ?? USUAL_SHARE),
    folder: text('work') ?? USUAL_FOLDER,
  };
}

function partOf(text: string): number {
  const percent = Number(/^(\d{1,3})%$/.exec(text)?.[1]);
  if (percent >= 1 && percent <= 100) return percent / 100;
  throw new ConfigError([`--share: ${text} is not a part of the limits; expected 1% to 100%`]);
}

function unknown(argument: string): ConfigError {
  return new ConfigError([`${argument}: unknown option; --help lists the options`]);
}

function applianceCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new ConfigError([`--appliances: ${text} is not a number of appliances; expected 1 to 9999999`]);
}

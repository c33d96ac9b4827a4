import type { BackfillOptions } from '../app/backfill.ts';
import { entriesOf } from '../config/format.ts';
import { duration } from '../config/formats.ts';
import { readValues } from '../config/parse-variables.ts';
import { labelList } from '../config/remote-write.ts';
import { section } from '../config/section.ts';
import { ConfigError } from '../runtime/errors.ts';
import type { Options } from './arguments.ts';

/** A backfill uses half of the limits by default, so that a running exporter keeps the other half. */
const DEFAULT_SHARE = '50%';

const DEFAULT_FOLDER = 'filer-exporter-backfill';

/** A shorter period is not worth a backfill, because one poll returns it. */
const MIN_PAST_MS = 900_000;

const AGO = { format: duration, formatMinimum: '0s', formatMaximum: '30d' } as const;

/** The options whose values are those of variables. */
const valueSection = section({
  variables: {
    '--since': { ...AGO, help: 'the beginning of the period' },
    '--until': { ...AGO, help: 'the end of the period' },
    '--labels': { ...labelList, help: 'labels added to every series' },
  },
  toSettings: (values) => values,
});

/** If no labels are given, those of remote write are used. */
export type ParsedOptions = Omit<BackfillOptions, 'labels'> & {
  readonly labels: BackfillOptions['labels'] | undefined;
};

/** Returns what to read, from the options. Throws a ConfigError if they are not valid. */
export function parseBackfillOptions(options: Options): ParsedOptions {
  const texts = Object.entries(options).map(([name, text]) => [`--${name}`, String(text)] as const);
  const { values, errors } = readValues(valueSection, new Map(texts), String);
  if (errors.length > 0) throw new ConfigError(errors);
  const { '--since': sinceMs, '--until': untilMs = 0, '--labels': labels } = valueSection.toSettings(values).settings;
  if (sinceMs === undefined) throw new ConfigError(['--backfill: expected --since with a duration such as 30d']);
  if (sinceMs - untilMs < MIN_PAST_MS) {
    throw new ConfigError(['--since: expected a time at least 15m before --until, which is now by default']);
  }
  const { filers, series, 'limit-share': share = DEFAULT_SHARE, 'work-dir': folder = DEFAULT_FOLDER } = options;
  return {
    sinceMs,
    untilMs,
    labels: labels && Object.fromEntries(labels),
    filers: filers === undefined ? undefined : entriesOf(filers),
    series: series === undefined ? undefined : entriesOf(series),
    share: partOf(share),
    folder,
  };
}

function partOf(text: string): number {
  const percent = Number(/^(\d{1,3})%$/.exec(text)?.[1]);
  if (percent >= 1 && percent <= 100) return percent / 100;
  throw new ConfigError([`--limit-share: ${text} is not a share of the limits; expected 1% to 100%`]);
}

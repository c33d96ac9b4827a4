import type { BackfillOptions } from '../app/backfill.ts';
import { labelPairs } from '../config/remote-write.ts';
import { entriesOf, type VariableType } from '../config/variable-type.ts';
import { durationType } from '../config/variable-types.ts';
import { HISTORY_RETENTION_MS } from '../history/points.ts';
import { ConfigError } from '../runtime/errors.ts';
import type { Options } from './arguments.ts';

/** A backfill uses half of the limits by default, so that a running exporter keeps the other half. */
const DEFAULT_SHARE = '50%';

const DEFAULT_FOLDER = 'filer-exporter-backfill';

/** A shorter period is not worth a backfill, because one poll returns it. */
const MIN_PAST_MS = 900_000;

/** If no labels are given, those of remote write are used. */
export type ParsedOptions = Omit<BackfillOptions, 'labels'> & {
  readonly labels: BackfillOptions['labels'] | undefined;
};

/** Returns what to read, from the options. Throws a ConfigError if they are not valid. */
export function parseBackfillOptions(options: Options): ParsedOptions {
  const ago = durationType({ least: 0, most: HISTORY_RETENTION_MS }, '30d');
  const read = <Value>(name: 'since' | 'until' | 'labels', kind: VariableType<Value>): Value | undefined => {
    const text = options[name];
    const parsed = text === undefined ? undefined : kind.parse(text);
    if (parsed?.state !== 'invalid') return parsed?.value;
    throw new ConfigError(parsed.errors.map(({ what }) => `--${name}: ${what}; expected ${kind.expects}`));
  };
  const [sinceMs, untilMs = 0] = [read('since', ago), read('until', ago)];
  if (sinceMs === undefined) throw new ConfigError(['--backfill: expected --since with a duration such as 30d']);
  if (sinceMs - untilMs < MIN_PAST_MS) {
    throw new ConfigError(['--since: expected a time at least 15m before --until, which is now by default']);
  }
  const { filers, series, 'limit-share': share = DEFAULT_SHARE, 'work-dir': folder = DEFAULT_FOLDER } = options;
  return {
    sinceMs,
    untilMs,
    labels: read('labels', labelPairs),
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

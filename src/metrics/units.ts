/**
 * The base units, with which a metric's name ends. `none` is for counts, states and rates without a unit, `info` for
 * gauges that are always 1 and have their content in labels.
 */
export type Unit = 'seconds' | 'bytes' | 'ratio' | 'timestamp_seconds' | 'bytes_per_second' | 'info' | 'none';

/** The allowed names for a unit: a wrong suffix does not compile. */
export type MetricName<U extends Unit> = U extends 'none' ? `filer_${string}` : `filer_${string}_${U}`;

export interface Conversion<U extends Unit = Unit> {
  readonly unit: U;
  /**
   * The number in the base unit, or undefined if the raw value is not what the service documents. `record` is the
   * record of the value, for a conversion that reads a second field. Never throws.
   */
  readonly read: (raw: unknown, record?: Readonly<Record<string, unknown>>) => number | undefined;
}

/**
 * A decimal as the services send it: a JSON number, or a string of digits with sign and fraction. Undefined for
 * everything else, `""`, `"NaN"`, `"0x10"` and numbers too large for a double among it.
 */
export function parseDecimal(raw: unknown): number | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined;
  if (typeof raw !== 'string' || !DECIMAL.test(raw)) return undefined;
  const value = Number(raw);
  return Number.isFinite(value) ? value : undefined;
}

const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * Returns the Unix seconds of an RFC 3339 date. Without an offset it is UTC; a leap second counts as the first second
 * of the next minute.
 */
export function parseDateSeconds(raw: unknown): number | undefined {
  if (typeof raw !== 'string') return undefined;
  const parts = RFC_3339.exec(raw);
  if (parts === null) return undefined;
  const [, day = '', minute, second, fraction = '', offset = 'Z'] = parts;
  if (!isDay(day)) return undefined;
  const leap = second === '60' ? 1 : 0;
  const whole = Date.parse(`${day}T${minute}:${leap === 1 ? '59' : second}${offset.toUpperCase()}`);
  return Number.isFinite(whole) ? whole / 1000 + leap + Number(`0${fraction}`) : undefined;
}

const RFC_3339 = /^(\d{4}-\d{2}-\d{2})[Tt ]((?:[01]\d|2[0-3]):\d{2}):(\d{2})(\.\d{1,18})?([Zz]|[+-]\d{2}:\d{2})?$/;

/** Whether the calendar has such a day: Date.parse() turns 30 February into 2 March. */
function isDay(day: string): boolean {
  if (Number(day.slice(8)) <= 28) return true;
  const midnight = Date.parse(`${day}T00:00:00Z`);
  return Number.isFinite(midnight) && new Date(midnight).toISOString().startsWith(day);
}

/**
 * The one place that turns a time reported by a service into one that is believed: a time later than the service's measured
 * clock when it arrived counts as that moment, and every other time counts as it was reported. Both in Unix seconds.
 */
export function believedTime(reported: number, now: number): number {
  return Math.min(reported, now);
}

type Read = Conversion['read'];

function conversion<U extends Unit>(unit: U, read: Read): Conversion<U> {
  return { unit, read };
}

function scaled(apply: (value: number) => number): Read {
  return (raw) => {
    const value = parseDecimal(raw);
    // The result is checked again, because a number that just fits a double may not fit after scaling.
    return value === undefined ? undefined : parseDecimal(apply(value));
  };
}

/**
 * Divides by a power of ten by moving the decimal point: 7.73 % is 0.0773, whereas 7.73 / 100 is 0.07730000000000001.
 */
function shifted(value: number, places: number): number {
  if (Number.isInteger(value)) return value / 10 ** places;
  const [digits, exponent = '0'] = String(value).split('e');
  return Number(`${digits}e${Number(exponent) - places}`);
}

const thousandth = scaled((value) => shifted(value, 3));

/** Rejects times before 2001: the services did not exist, and a missing time may be sent as the epoch. */
function since2001(read: Read): Read {
  return (raw) => {
    const seconds = read(raw);
    return seconds !== undefined && seconds >= 978_307_200 ? seconds : undefined;
  };
}

export const unitless = conversion('none', parseDecimal);

export const seconds = conversion('seconds', parseDecimal);

/** Rejects negative durations. Clocks that differ cause them, and they would make the sum of a histogram decrease. */
export const nonNegativeSeconds = conversion('seconds', (raw) => {
  const value = parseDecimal(raw);
  return value !== undefined && value >= 0 ? value : undefined;
});

export const milliseconds = conversion('seconds', thousandth);

/** The portal's KB, which are kibibytes: kernel figures collected on Linux. */
export const kibibytes = conversion(
  'bytes',
  scaled((value) => value * 1024),
);

export const bytes = conversion('bytes', parseDecimal);

export const bytesPerSecond = conversion('bytes_per_second', parseDecimal);

export const percent = conversion(
  'ratio',
  scaled((value) => shifted(value, 2)),
);

export const ratio = conversion('ratio', parseDecimal);

const inMilliseconds = since2001(thousandth);
const inSeconds = since2001(parseDecimal);

/** Reads a time that would be before 2001 in milliseconds as seconds. */
export const epochMilliseconds = conversion('timestamp_seconds', (raw) => inMilliseconds(raw) ?? inSeconds(raw));

export const date = conversion('timestamp_seconds', since2001(parseDateSeconds));

/** A time whose format is not documented. */
export const anyTime = conversion('timestamp_seconds', (raw) => date.read(raw) ?? epochMilliseconds.read(raw));

/** A date that may be ahead, such as the end of a licence. */
export const futureDate = conversion('timestamp_seconds', since2001(parseDateSeconds));

/** Seconds before the time of the record, which is an RFC 3339 date in another field. */
export function secondsBefore(field: string): Conversion<'timestamp_seconds'> {
  return conversion('timestamp_seconds', (raw, record) => {
    const age = parseDecimal(raw);
    const at = parseDateSeconds(record?.[field]);
    return age === undefined || at === undefined ? undefined : parseDecimal(at - age);
  });
}

/** The value is always 1, because the content is in the labels. */
export const infoOne = conversion('info', () => 1);

/** The value is 1 for the current state, which is a label. */
export const state = conversion('none', () => 1);

/** The value is 1, and a label has the text. A text without a letter or digit, such as `-`, says nothing. */
export const enumValue = conversion('none', (raw) =>
  typeof raw === 'string' && /[\p{L}\p{N}]/u.test(raw) ? 1 : undefined,
);

/** Like {@link enumValue}, for the name `…_info`. */
export const enumInfo = conversion('info', enumValue.read);

export const recordOne = conversion('none', () => 1);

/** 1 for null, which some fields hold until something has happened. */
export const isNull = conversion('none', (raw) => (raw === null ? 1 : 0));

/** 1 for true and 0 for false, which some services send as text. */
export const booleanValue = conversion('none', (raw) => {
  if (raw === true || raw === 'true') return 1;
  return raw === false || raw === 'false' ? 0 : undefined;
});

export const listLength = conversion('none', (raw) => (Array.isArray(raw) ? raw.length : undefined));

export function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

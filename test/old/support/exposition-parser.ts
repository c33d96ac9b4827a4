/** One line of an exposition: what a scraper makes of it. */
export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One family: its header lines and its samples, in order. */
export interface ParsedFamily {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly unit: string | undefined;
  readonly samples: readonly ParsedSample[];
}

interface OpenFamily extends ParsedFamily {
  help: string;
  type: string;
  unit: string | undefined;
  readonly samples: ParsedSample[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const TYPES = new Set(['gauge', 'counter', 'histogram', 'summary']);

/**
 * Reads an exposition as strictly as both specifications allow, and so more strictly than any scraper: every family has
 * HELP and TYPE in this order (UNIT behind it, in OpenMetrics only), stands in one piece, has samples, and each of its
 * series once; counters and histograms are what they have to be. Throws at the first fault, with its line.
 */
export function parseExposition(text: string, format: 'text' | 'openmetrics'): ParsedFamily[] {
  const lines = linesOf(text, format);
  const families = new Map<string, OpenFamily>();
  const series = new Set<string>();
  let family: OpenFamily | undefined;
  for (const [index, line] of lines.entries()) {
    try {
      const header = line.startsWith('#') ? /^# (HELP|TYPE|UNIT) ([^ ]+) (.*)$/s.exec(line) : null;
      if (header) family = readHeader(header, family, families, format);
      else if (line.startsWith('#')) throw new Error('a comment that is no header');
      else if (family === undefined || family.type === '') throw new Error('a sample before the header of its family');
      else {
        const { name, labels, key, value } = readSample(line);
        const sample = { name, labels, value };
        expectBelongs(sample, family, format);
        if (series.has(key)) throw new Error('this series was there before');
        series.add(key);
        family.samples.push(sample);
      }
    } catch (cause) {
      throw new Error(`line ${index + 1}, ${JSON.stringify(line.slice(0, 200))}: ${(cause as Error).message}`, {
        cause,
      });
    }
  }
  for (const each of families.values()) {
    if (each.samples.length === 0) throw new Error(`${each.name}: a header without samples`);
    if (each.type === 'histogram') expectHistogram(each);
  }
  return [...families.values()];
}

/** Reads the samples and types of an exposition in the text format without looking for faults: a third of the work. */
export function readExposition(text: string): {
  readonly samples: readonly ParsedSample[];
  readonly types: ReadonlyMap<string, string>;
} {
  const samples: ParsedSample[] = [];
  const types = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('#')) {
      const [, keyword, name = '', type = ''] = line.split(' ', 4);
      if (keyword === 'TYPE') types.set(name, type);
      continue;
    }
    const end = line.lastIndexOf(' ');
    const { name, labels } = seriesOf(line.slice(0, end));
    samples.push({ name, labels, value: Number(line.slice(end + 1).replace('Inf', 'Infinity')) });
  }
  return { samples, types };
}

function linesOf(text: string, format: 'text' | 'openmetrics'): string[] {
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line does not end');
  if (text.includes('\0') || !text.isWellFormed()) throw new Error('not a text in UTF-8 without NUL');
  const lines = text.split('\n').slice(0, -1);
  if (format === 'openmetrics' && lines.pop() !== '# EOF') throw new Error('the last line is not # EOF');
  return lines;
}

function readHeader(
  [, keyword, name = '', rest = '']: RegExpExecArray,
  last: OpenFamily | undefined,
  families: Map<string, OpenFamily>,
  format: 'text' | 'openmetrics',
): OpenFamily {
  if (!NAME.test(name)) throw new Error('not the name of a metric');
  if (keyword === 'HELP') {
    if (families.has(name)) throw new Error('this family was there before: it is split');
    const help = unescaped(
      rest,
      format === 'openmetrics' ? { '\\': '\\', n: '\n', '"': '"' } : { '\\': '\\', n: '\n' },
    );
    const family: OpenFamily = { name, help, type: '', unit: undefined, samples: [] };
    families.set(name, family);
    return family;
  }
  if (last?.name !== name || last.samples.length > 0) throw new Error(`${keyword} without its HELP right before it`);
  if (keyword === 'TYPE') {
    if (last.type !== '' || !TYPES.has(rest)) throw new Error('not a type, or a second one');
    if (format === 'openmetrics' && rest === 'counter' && name.endsWith('_total'))
      throw new Error('a family in _total');
    last.type = rest;
  } else {
    if (format === 'text') throw new Error('the text format has no UNIT');
    if (!name.endsWith(`_${rest}`)) throw new Error('the name does not end in its unit');
    last.unit = rest;
  }
  return last;
}

/** What stands before the number of a line, and one text for it with its labels in order. */
interface ParsedSeries extends Omit<ParsedSample, 'value'> {
  readonly key: string;
}

/** Series by what stands before their number: the next scrape has most of them again. */
const known = new Map<string, ParsedSeries>();
const MAX_KNOWN = 100_000;

/** `name{label="value",…} value`, and nothing else: no timestamps, no exemplars, no blanks to spare. */
function readSample(line: string): ParsedSeries & ParsedSample {
  const end = line.lastIndexOf(' ');
  const head = line.slice(0, end);
  const number = /^ ([+-]Inf|NaN|-?\d+(?:\.\d+)?(?:e[+-]\d+)?)$/.exec(line.slice(end))?.[1];
  if (number === undefined) throw new Error('not one number behind the series');
  return { ...seriesOf(head), value: Number(number.replace('Inf', 'Infinity')) };
}

function seriesOf(head: string): ParsedSeries {
  const found = known.get(head);
  if (found !== undefined) return found;
  if (known.size >= MAX_KNOWN) known.clear();
  const read = readSeries(head);
  known.set(head, read);
  return read;
}

function readSeries(head: string): ParsedSeries {
  const name = /^[a-zA-Z_:][a-zA-Z0-9_:]*/.exec(head)?.[0];
  if (name === undefined) throw new Error('not a sample');
  const labels: Record<string, string> = {};
  let rest = head.slice(name.length);
  if (rest.startsWith('{')) {
    const label = /^[{,]([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\n"])*)"/;
    for (let found = label.exec(rest); found !== null; found = label.exec(rest)) {
      const [whole, key = '', value = ''] = found;
      if (Object.hasOwn(labels, key)) throw new Error(`the label ${key} twice`);
      labels[key] = unescaped(value, { '\\': '\\', n: '\n', '"': '"' });
      rest = rest.slice(whole.length);
    }
    if (!rest.startsWith('}') || Object.keys(labels).length === 0) throw new Error('labels that do not end');
    rest = rest.slice(1);
  }
  if (rest !== '') throw new Error('not one number behind the series');
  return { name, labels, key: JSON.stringify([name, Object.entries(labels).sort()]) };
}

function expectBelongs({ name, labels, value }: ParsedSample, family: OpenFamily, format: string): void {
  const suffixes: Readonly<Record<string, readonly string[]>> = {
    gauge: [''],
    counter: [format === 'openmetrics' ? '_total' : ''],
    histogram: ['_bucket', '_sum', '_count'],
    summary: ['', '_sum', '_count'],
  };
  if (!suffixes[family.type]?.some((suffix) => name === family.name + suffix)) {
    throw new Error(`no sample of the ${family.type} ${family.name}`);
  }
  if ((family.type === 'histogram' && name.endsWith('_bucket')) !== 'le' in labels) throw new Error('le out of place');
  if (family.type === 'counter' && !(value >= 0)) throw new Error('a counter below zero');
}

function expectHistogram({ name, samples }: ParsedFamily): void {
  const groups = new Map<string, ParsedSample[]>();
  let last = '';
  for (const sample of samples) {
    const { le: _, ...labels } = sample.labels;
    const key = JSON.stringify(Object.entries(labels).sort());
    if (key !== last && groups.has(key)) throw new Error(`${name}: the lines of ${key} are split`);
    groups.set(key, [...(groups.get(key) ?? []), sample]);
    last = key;
  }
  for (const [key, group] of groups) {
    const buckets = group.filter((sample) => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels }) => Number(labels.le?.replace('Inf', 'Infinity')));
    const ascending = (values: readonly number[], least: number) =>
      values.every((value, index) => index === 0 || value - (values[index - 1] ?? 0) >= least);
    const one = (suffix: string) => group.filter((sample) => sample.name === name + suffix);
    if (!ascending(bounds.slice(0, -1), Number.MIN_VALUE) || bounds.at(-1) !== Number.POSITIVE_INFINITY) {
      throw new Error(`${name}: the bounds of ${key} do not ascend to +Inf`);
    }
    if (
      !ascending(
        buckets.map(({ value }) => value),
        0,
      )
    )
      throw new Error(`${name}: the buckets of ${key} do not add up`);
    if (one('_count').length !== 1 || one('_sum').length !== 1) throw new Error(`${name}: no _sum or _count of ${key}`);
    if (one('_count')[0]?.value !== buckets.at(-1)?.value) throw new Error(`${name}: _count of ${key} is not its +Inf`);
  }
}

function unescaped(text: string, escapes: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\\(.?)/gs, (_, escaped: string) => {
    const plain = escapes[escaped];
    if (plain === undefined) throw new Error(`\\${escaped} is no escape`);
    return plain;
  });
}

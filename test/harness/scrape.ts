export interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a scrape of `/metrics` brought. A line that is no sample, or a series that comes twice, throws. */
export class Scrape {
  readonly text: string;
  /** The type of each family. */
  readonly types = new Map<string, string>();
  /** Lines by name, and what they say: most are never asked for. */
  readonly #lines = new Map<string, string[]>();
  readonly #samples = new Map<string, readonly ScrapedSample[]>();

  constructor(text: string) {
    this.text = text;
    const seen = new Set<string>();
    for (const line of text.split('\n')) {
      if (line === '') continue;
      if (line.startsWith('#')) {
        const [, kind, name = '', type = ''] = line.split(' ');
        if (kind === 'TYPE') this.types.set(name, type);
        continue;
      }
      const series = line.slice(0, line.lastIndexOf(' '));
      if (seen.has(series)) throw new Error(`a scrape has the series ${series} twice`);
      seen.add(series);
      const [name = ''] = series.split('{', 1);
      const lines = this.#lines.get(name);
      if (lines === undefined) this.#lines.set(name, [line]);
      else lines.push(line);
    }
  }

  get names(): readonly string[] {
    return [...this.#lines.keys()];
  }

  /** The samples of a name, or of all names that a pattern fits, with these labels among theirs. */
  all(name: string | RegExp, labels: ScrapedSample['labels'] = {}): readonly ScrapedSample[] {
    const names = typeof name === 'string' ? [name] : this.names.filter((one) => name.test(one));
    const wanted = Object.entries(labels);
    const named = names.flatMap((one) => this.#samplesOf(one));
    return named.filter((sample) => wanted.every(([label, value]) => sample.labels[label] === value));
  }

  /** The value of the only sample that fits; undefined if there is none. */
  value(name: string, labels: ScrapedSample['labels'] = {}): number | undefined {
    const found = this.all(name, labels);
    if (found.length > 1) throw new Error(`${found.length} samples are ${name} ${JSON.stringify(labels)}`);
    return found[0]?.value;
  }

  sum(name: string, labels: ScrapedSample['labels'] = {}): number {
    return this.all(name, labels).reduce((sum, { value }) => sum + value, 0);
  }

  /** How all stands, as `gfa up, 4 filers; portal up, 3 reporting, 9 series`. */
  get standing(): string {
    const parts = this.all('filer_api_up').map(({ labels: { api = '' }, value }) => {
      const reasons = this.all('filer_api_down_info', { api }).map(({ labels }) => labels.reason);
      const up = value === 1 ? 'up' : `down (${reasons.join()})`;
      const filers = `${this.all('filer_last_checkin_timestamp_seconds').length} filers`;
      return `${api} ${up}, ${api === 'gfa' ? filers : this.#appliances}`;
    });
    return parts.join('; ');
  }

  get #appliances(): string {
    const states = this.all('filer_appliance_state').flatMap(({ labels, value }) =>
      value === 1 ? (labels.state ?? '').replace('_', ' ') : [],
    );
    const counts = [...new Set(states)]
      .toSorted()
      .map((state) => `${states.filter((one) => one === state).length} ${state}`);
    return [...counts, `${this.all('filer_appliance_series_timestamp_seconds').length} series`].join(', ');
  }

  #samplesOf(name: string): readonly ScrapedSample[] {
    const known = this.#samples.get(name);
    if (known !== undefined) return known;
    const samples = (this.#lines.get(name) ?? []).map((line) => {
      const end = line.lastIndexOf(' ');
      return { ...seriesOf(line.slice(0, end)), value: numberOf(line.slice(end + 1)) };
    });
    this.#samples.set(name, samples);
    return samples;
  }
}

function seriesOf(text: string): Omit<ScrapedSample, 'value'> {
  const [, name = '', inBraces = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?$/s.exec(text) ?? [];
  const labels: Record<string, string> = {};
  const rest = inBraces.replaceAll(/(\w+)="((?:[^"\\]|\\[\\n"])*)",?/g, (_, label: string, value: string) => {
    labels[label] = value.replaceAll(/\\(.)/g, (_escape, character) => (character === 'n' ? '\n' : character));
    return '';
  });
  if (name === '' || rest !== '') throw new Error(`a scrape has a line that is no sample: ${text}`);
  return { name, labels };
}

function numberOf(text: string): number {
  const value = Number(text.replace('Inf', 'Infinity'));
  if (Number.isNaN(value) && text !== 'NaN') throw new Error(`a scrape has a value that is no number: ${text}`);
  return value;
}

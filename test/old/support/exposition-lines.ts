/** One sample line of a text exposition, its label values as the text has them. */
export interface Line {
  readonly name: string;
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly value: string;
}

const SAMPLE = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /([a-z_]+)="((?:[^"\\]|\\.)*)"(?:,|$)/g;

/** The sample lines of an exposition, in order. */
export function linesOf(exposition: string): readonly Line[] {
  return exposition
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, name = line, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
      return { name, labels: [...labels.matchAll(LABEL)].map(([, label = '', text = '']) => [label, text]), value };
    });
}

/** The samples as `name{label="value"}` to number, for tests that name the few lines they are about. */
export function valuesOf(samples: Iterable<{ name: string; labels: Readonly<Record<string, string>>; value: number }>) {
  const values: Record<string, number> = {};
  for (const { name, labels, value } of samples) {
    const text = Object.entries(labels).map(([label, told]) => `${label}="${told}"`);
    values[text.length === 0 ? name : `${name}{${text.join(',')}}`] = value;
  }
  return values;
}

import type { AlertCase, Series } from './case.ts';

/** Minutes of a moment as `95m`, `5h` or `24h10m`. */
export function minutes(moment: string): number {
  const [, hours = '0', rest = '0'] = /^(?:(\d+)h)?(?:(\d+)m)?$/.exec(moment) ?? [];
  return Number(hours) * 60 + Number(rest);
}

/** The same series up to a moment, and none afterwards: everything that knew of it falls silent. */
export function silentAfter({ series, at, apart }: AlertCase): Series {
  const count = minutes(at) / (apart === '5m' ? 5 : 1) + 1;
  const cut = (values: string) => `${spelt(values).slice(0, count).join(' ')} stale`;
  return Object.fromEntries(Object.entries(series).map(([name, values]) => [name, cut(values)]));
}

/** promtool's short notation for values, each on its own. */
function spelt(values: string): readonly string[] {
  return values.split(' ').flatMap((word) => {
    const [, start = word, step = '+0', times] = /^(-?[\d.]+|_)([+-][\d.]+)?x(\d+)$/.exec(word) ?? [];
    if (times === undefined) return [word];
    if (start === '_') return Array.from({ length: Number(times) }, () => '_');
    return Array.from({ length: Number(times) + 1 }, (_, index) => `${Number(start) + index * Number(step)}`);
  });
}

/** Values from 0 to 1 by time in milliseconds, as Prometheus holds them. */
type Line = ReadonlyMap<number, number>;

const PANEL = { width: 430, height: 200, left: 52, top: 52, gap: 18 } as const;
const COLOURS = { text: '#24292f', faint: '#d0d7de', line: '#0969da', ground: '#ffffff' } as const;

/** Both ways side by side, on the same axes. */
export function peakPicture(scraped: Line, sent: Line): string {
  const times = [...scraped.keys(), ...sent.keys()];
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const width = 2 * (PANEL.left + PANEL.width + PANEL.gap);
  const height = PANEL.top + PANEL.height + 34;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13">`,
    '<title>CPU of one appliance over two hours, scraped and by remote write</title>',
    `<rect width="${width}" height="${height}" fill="${COLOURS.ground}"/>`,
    ...panel(scraped, { from, to, x: PANEL.left, title: 'Scraped each minute: the peak is missing' }),
    ...panel(sent, {
      from,
      to,
      x: 2 * PANEL.left + PANEL.width + PANEL.gap,
      title: 'Remote write: every minute, at its own time',
    }),
    '</svg>',
    '',
  ].join('\n');
}

interface Frame {
  readonly from: number;
  readonly to: number;
  /** Where its axes meet. */
  readonly x: number;
  readonly title: string;
}

function panel(line: Line, { from, to, x, title }: Frame): readonly string[] {
  const bottom = PANEL.top + PANEL.height;
  const across = (time: number) => round(x + ((time - from) / (to - from)) * PANEL.width);
  const up = (value: number) => round(bottom - value * PANEL.height);
  const text = (at: readonly [x: number, y: number], anchor: string, words: string) =>
    `<text x="${at[0]}" y="${at[1]}" text-anchor="${anchor}" fill="${COLOURS.text}">${words}</text>`;
  const levels = [0, 0.5, 1].flatMap((value) => [
    `<line x1="${x}" x2="${x + PANEL.width}" y1="${up(value)}" y2="${up(value)}" stroke="${COLOURS.faint}"/>`,
    text([x - 6, up(value) + 4], 'end', `${100 * value}%`),
  ]);
  const halfHour = 1_800_000;
  const first = Math.ceil(from / halfHour) * halfHour;
  const moments: string[] = [];
  for (let time = first; time <= to; time += halfHour) {
    moments.push(text([across(time), bottom + 20], 'middle', new Date(time).toISOString().slice(11, 16)));
  }
  const points = [...line].sort(([one], [other]) => one - other);
  const path = points.map(([time, value], index) => `${index === 0 ? 'M' : 'L'}${across(time)} ${up(value)}`).join('');
  return [
    `<text x="${x}" y="24" font-weight="bold" fill="${COLOURS.text}">${title}</text>`,
    ...levels,
    ...moments,
    `<path d="${path}" fill="none" stroke="${COLOURS.line}" stroke-width="1.5"/>`,
  ];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** What the parent asks the exporter. */
export type Question = 'figures' | 'stop';

/** What the exporter answers. */
export type Answer = { readonly port: number } | { readonly figures: Figures };

/** What the exporter says of itself at a moment. */
export interface Figures {
  /** Heap and what hangs on it outside, after a garbage collection. */
  readonly liveBytes: number;
  readonly residentBytes: number;
  /** Timers, sockets, servers and requests that keep the event loop busy. */
  readonly handles: number;
  /** Open files. */
  readonly descriptors: number;
  /** Of the event loop, since the last figures. */
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
  readonly rejections: number;
  /** Log lines with a stack. */
  readonly defects: number;
  readonly lines: number;
}

/** Figures with their moment, and how much was asked and scraped until then. */
export interface Point extends Figures {
  /** Real minutes since the start. */
  readonly minutes: number;
  readonly requests: number;
  readonly scrapes: number;
}

/** What a soak run comes to. */
export interface Summary {
  readonly memorySlopeBytesPerHour: number;
  /** Growth of what is alive over the measured half, as the line through its points has it. */
  readonly grownBytes: number;
  readonly grownBytesPerRequest: number;
  readonly mostHandlesEarly: number;
  readonly mostHandlesLate: number;
  readonly mostDescriptorsEarly: number;
  readonly mostDescriptorsLate: number;
  readonly medianDelayP99Ms: number;
  readonly delayMaxMs: number;
}

/**
 * What may grow. Memory: a leak of one small object a request is 50 bytes and more, and shows in an hour; in a minute
 * there are too few requests for it to stand out from what the heap breathes anyway, about 3 MB with this fleet. Handles:
 * as many as there may be requests, scrapes and timers under way at the one moment and not at the other. Delay: slices of
 * work take 8 ms and the collector of garbage about as long, and an idle machine shows 2 to 8 ms. A machine that has other
 * things to do adds to that: the soak wants a quiet one.
 */
export const LIMITS = { breathBytes: 3_000_000, bytesPerRequest: 50, handles: 30, descriptors: 30, delayP99Ms: 50 };

/** The second half of a run counts: in the first, histories, windows and buffers fill up. */
export function summaryOf(points: readonly Point[]): Summary {
  const half = (points.at(-1)?.minutes ?? 0) / 2;
  const late = points.filter(({ minutes }) => minutes >= half);
  const early = points.filter(({ minutes }) => minutes < half);
  const slope = slopeOf(late.map(({ minutes, liveBytes }) => [minutes, liveBytes]));
  const grownBytes = slope * ((late.at(-1)?.minutes ?? 0) - (late[0]?.minutes ?? 0));
  const most = (some: readonly Point[], of: (point: Point) => number) => Math.max(0, ...some.map(of));
  return {
    memorySlopeBytesPerHour: slope * 60,
    grownBytes,
    grownBytesPerRequest: grownBytes / Math.max(1, (late.at(-1)?.requests ?? 0) - (late[0]?.requests ?? 0)),
    mostHandlesEarly: most(early, ({ handles }) => handles),
    mostHandlesLate: most(late, ({ handles }) => handles),
    mostDescriptorsEarly: most(early, ({ descriptors }) => descriptors),
    mostDescriptorsLate: most(late, ({ descriptors }) => descriptors),
    medianDelayP99Ms: medianOf(late.map(({ delayP99Ms }) => delayP99Ms)),
    delayMaxMs: most(late, ({ delayMaxMs }) => delayMaxMs),
  };
}

/** What is wrong with a run, one line each; none when all is well. */
export function faultsOf(points: readonly Point[]): readonly string[] {
  const faults: string[] = [];
  const last = points.at(-1);
  if (points.length < 4 || last === undefined) return ['too short: four measurements at least tell a slope from noise'];
  const summary = summaryOf(points);
  const { breathBytes, bytesPerRequest, handles, descriptors, delayP99Ms } = LIMITS;
  if (summary.grownBytes > breathBytes && summary.grownBytesPerRequest > bytesPerRequest) {
    faults.push(
      `memory grew by ${Math.round(summary.grownBytes)} bytes, ${Math.round(summary.grownBytesPerRequest)} a request`,
    );
  }
  if (summary.mostHandlesLate > summary.mostHandlesEarly + handles) {
    faults.push(`handles grew from ${summary.mostHandlesEarly} to ${summary.mostHandlesLate}`);
  }
  if (summary.mostDescriptorsLate > summary.mostDescriptorsEarly + descriptors) {
    faults.push(`open files grew from ${summary.mostDescriptorsEarly} to ${summary.mostDescriptorsLate}`);
  }
  if (summary.medianDelayP99Ms > delayP99Ms) {
    faults.push(`the event loop was late by ${summary.medianDelayP99Ms} ms in one turn of a hundred`);
  }
  if (last.rejections > 0) faults.push(`${last.rejections} promises were rejected and nobody heard`);
  if (last.defects > 0) faults.push(`${last.defects} log lines with a stack`);
  return faults;
}

/** The slope of the line through points that has the least squares. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [middleX, middleY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))];
  const spread = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
  if (spread === 0) return 0;
  return points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0) / spread;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

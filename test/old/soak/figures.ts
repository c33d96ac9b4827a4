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
  /** How many things had happened to the fleet, and how large it is. */
  readonly changes: number;
  readonly appliances: number;
}

/** What a soak run comes to. */
export interface Summary {
  readonly memorySlopeBytesPerHour: number;
  /** Of that slope: how far it may be off, by how the points lie about their line. */
  readonly memorySlopeErrorBytesPerHour: number;
  /** Growth of what is alive over the measured half, as the line through its points has it. */
  readonly grownBytes: number;
  readonly grownBytesPerRequest: number;
  readonly maxHandlesEarly: number;
  readonly maxHandlesLate: number;
  readonly maxDescriptorsEarly: number;
  readonly maxDescriptorsLate: number;
  readonly medianDelayP99Ms: number;
  readonly delayMaxMs: number;
  readonly linesAChange: number;
}

/**
 * What may grow. Memory: a leak of one small object a request is 50 bytes and more, and shows in an hour; in a minute
 * there are too few requests for it to stand out from what the heap breathes anyway, about 3 MB with this fleet. What leaks
 * with something else, a change of the fleet or a scrape, shows in the slope, which an hour tells to half a megabyte. Handles:
 * as many as there may be requests, scrapes and timers under way at the one moment and not at the other. Delay: slices of
 * work take 8 ms and the collector of garbage about as long, and an idle machine shows 2 to 8 ms. A machine that has other
 * things to do adds to that: the soak wants a quiet one. Log lines: one or two for each thing that happens and is over.
 */
export const LIMITS = {
  breathBytes: 3_000_000,
  bytesPerRequest: 50,
  bytesPerHour: 2_000_000,
  handles: 30,
  descriptors: 30,
  delayP99Ms: 50,
  linesAChange: 3,
};

/** A slope is told from nothing when it is so many times its error. */
const SURE = 3;

/** A slope is judged when so many minutes count: in fewer the heap breathes more than it could leak. */
const MIN_MINUTES = 15;

/** So many log lines there may be whatever happens: those of the start, and of what is not over yet. */
const LINES_TO_BEGIN_WITH = 50;

/** The second half of a run counts: in the first, histories, windows and buffers fill up. */
export function summaryOf(points: readonly Point[]): Summary {
  const half = (points.at(-1)?.minutes ?? 0) / 2;
  const late = points.filter(({ minutes }) => minutes >= half);
  const early = points.filter(({ minutes }) => minutes < half);
  const { slope, error } = growthOf(late);
  const grownBytes = slope * ((late.at(-1)?.minutes ?? 0) - (late[0]?.minutes ?? 0));
  const most = (some: readonly Point[], of: (point: Point) => number) => Math.max(0, ...some.map(of));
  return {
    memorySlopeBytesPerHour: slope * 60,
    memorySlopeErrorBytesPerHour: error * 60,
    grownBytes,
    grownBytesPerRequest: grownBytes / Math.max(1, (late.at(-1)?.requests ?? 0) - (late[0]?.requests ?? 0)),
    maxHandlesEarly: most(early, ({ handles }) => handles),
    maxHandlesLate: most(late, ({ handles }) => handles),
    maxDescriptorsEarly: most(early, ({ descriptors }) => descriptors),
    maxDescriptorsLate: most(late, ({ descriptors }) => descriptors),
    medianDelayP99Ms: medianOf(late.map(({ delayP99Ms }) => delayP99Ms)),
    delayMaxMs: most(late, ({ delayMaxMs }) => delayMaxMs),
    linesAChange: (points.at(-1)?.lines ?? 0) / Math.max(1, points.at(-1)?.changes ?? 0),
  };
}

/** What is wrong with a run, one line each; none when all is well. */
export function errorsOf(points: readonly Point[]): readonly string[] {
  const faults: string[] = [];
  const last = points.at(-1);
  if (points.length < 4 || last === undefined) return ['too short: four measurements at least tell a slope from noise'];
  const summary = summaryOf(points);
  const { breathBytes, bytesPerRequest, bytesPerHour, handles, descriptors, delayP99Ms, linesAChange } = LIMITS;
  if (summary.grownBytes > breathBytes && summary.grownBytesPerRequest > bytesPerRequest) {
    faults.push(
      `memory grew by ${Math.round(summary.grownBytes)} bytes, ${Math.round(summary.grownBytesPerRequest)} a request`,
    );
  }
  const { memorySlopeBytesPerHour: slope, memorySlopeErrorBytesPerHour: error } = summary;
  if (last.minutes / 2 >= MIN_MINUTES && slope > bytesPerHour && slope > SURE * error) {
    faults.push(`memory grows by ${Math.round(slope)} bytes an hour, give or take ${Math.round(error)}`);
  }
  if (summary.maxHandlesLate > summary.maxHandlesEarly + handles) {
    faults.push(`handles grew from ${summary.maxHandlesEarly} to ${summary.maxHandlesLate}`);
  }
  if (summary.maxDescriptorsLate > summary.maxDescriptorsEarly + descriptors) {
    faults.push(`open files grew from ${summary.maxDescriptorsEarly} to ${summary.maxDescriptorsLate}`);
  }
  if (summary.medianDelayP99Ms > delayP99Ms) {
    faults.push(`the event loop was late by ${summary.medianDelayP99Ms} ms in one turn of a hundred`);
  }
  if (last.lines > LINES_TO_BEGIN_WITH + linesAChange * last.changes) {
    faults.push(`${last.lines} log lines for ${last.changes} changes`);
  }
  if (last.rejections > 0) faults.push(`${last.rejections} promises were rejected and nobody heard`);
  if (last.defects > 0) faults.push(`${last.defects} log lines with a stack`);
  return faults;
}

/** One measurement, and when. */
type At = readonly [x: number, y: number];

/** Points further off than so many times what is usual are left out. */
const USUAL = 4;

/**
 * How what is alive grows with time alone, in bytes a minute: what an appliance more or less makes of it is taken out, and
 * so are points far off the others, for while a service is down its data is withdrawn, and its memory with it.
 */
export function growthOf(points: readonly Point[]): Line {
  const of = (some: readonly Point[]) => {
    const sizes = some.map(({ appliances }) => appliances);
    const times = unexplained(
      some.map(({ minutes }) => minutes),
      sizes,
    );
    const bytes = unexplained(
      some.map(({ liveBytes }) => liveBytes),
      sizes,
    );
    return times.map((time, index): At => [time, bytes[index] ?? 0]);
  };
  const all = of(points);
  const { slope } = lineThrough(all);
  const off = all.map(([x, y]) => Math.abs(y - slope * x));
  const most = USUAL * medianOf(off);
  return lineThrough(of(points.filter((_, index) => (off[index] ?? 0) <= most)));
}

/** What is left of values when the line through their causes is taken off. */
function unexplained(values: readonly number[], causes: readonly number[]): readonly number[] {
  const points = causes.map((cause, index): At => [cause, values[index] ?? 0]);
  const { slope } = lineThrough(points);
  const [middleX, middleY] = [meanOf(causes), meanOf(values)];
  return points.map(([x, y]) => y - middleY - slope * (x - middleX));
}

/** A line through points: how steep it is, and how far that may be off (one standard error). */
export interface Line {
  readonly slope: number;
  readonly error: number;
}

/**
 * The line through points that has the least squares. What lies off it lies off it for a while: neighbours are alike, and
 * tell less than as many that have nothing to do with each other, so the error is larger by that.
 */
export function lineThrough(points: readonly At[]): Line {
  const [middleX, middleY] = [meanOf(points.map(([x]) => x)), meanOf(points.map(([, y]) => y))];
  const spread = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
  if (spread === 0) return { slope: 0, error: Number.POSITIVE_INFINITY };
  const slope = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0) / spread;
  const off = points.map(([x, y]) => y - middleY - slope * (x - middleX));
  const squares = off.reduce((sum, value) => sum + value ** 2, 0);
  const products = off.reduce((sum, value, index) => sum + value * (off[index + 1] ?? 0), 0);
  const alike = squares === 0 ? 0 : Math.min(0.9, Math.max(0, products / squares));
  const scatter = squares / Math.max(1, points.length - 2) / spread;
  return { slope, error: Math.sqrt((scatter * (1 + alike)) / (1 - alike)) };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

import type { PollResult } from '../../src/contract/poll-result.ts';
import type { Task } from '../../src/contract/task.ts';
import { seededRandom } from '../../src/demo/seeded-random.ts';
import { RequestError } from '../../src/runtime/errors.ts';
import { answered, families, minutes, nothing, task } from './fleet.ts';
import { type Manner, Stage } from './running.ts';

/** What a series does at its `nth` poll, `now` milliseconds after the start; the same for as long as the exporter runs. */
type Behaviour = (nth: number, now: number) => Manner;

const hangs: Manner = { ms: 30_000, comes: new RequestError('timeout', 'too late') };
const fails: Manner = { ms: 200, comes: answered(500) };
const isDenied: Manner = { ms: 200, comes: answered(403) };
const isEmpty: Manner = { ms: 200, comes: nothing };

function records(at: number): Manner {
  const comes: PollResult = {
    samples: [{ name: 'filer_x', labels: {}, value: 1, at: at / 1000 }],
    drops: new Map(),
    empty: false,
  };
  return { ms: 200, comes };
}

const well = (now: number) => records(Math.floor(now / 60_000) * 60_000 + 60_000);

const LOOKBACK_MS = minutes(15);

/** By name; `k` from 2 to 9, `share` from 0 to 1. */
const BEHAVIOURS: Readonly<Record<string, (k: number, share: number) => Behaviour>> = {
  'always well': () => (_, now) => well(now),
  'always 500': () => () => fails,
  'always empty': () => () => isEmpty,
  'always 403': () => () => isDenied,
  'times out': () => () => hangs,
  'every k-th fails': (k) => (nth, now) => (nth % k === 0 ? fails : well(now)),
  'every k-th hangs': (k) => (nth, now) => (nth % k === 0 ? hangs : well(now)),
  'every k-th is empty': (k) => (nth, now) => (nth % k === 0 ? isEmpty : well(now)),
  'reports every 15 to 60 minutes': (_, share) => {
    const everyMs = minutes(15 + Math.floor(share * 46));
    return (_nth, now) => {
      const last = Math.floor(now / everyMs) * everyMs;
      return now - last <= LOOKBACK_MS ? records(last + 60_000) : isEmpty;
    };
  },
};

/** Rarer successes: a verdict may change more often than once, though hardly ever. */
const HARDER: typeof BEHAVIOURS = {
  ...BEHAVIOURS,
  'every k-th is well': (k) => (nth, now) => (nth % k === 0 ? well(now) : fails),
  'every k-th is well, else hangs': (k) => (nth, now) => (nth % k === 0 ? well(now) : hangs),
  'empty and 500 in turn': () => (nth) => (nth % 2 === 1 ? fails : isEmpty),
  '403 and 500 in turn': () => (nth) => (nth % 2 === 1 ? fails : isDenied),
};

/** Series that never bring a record. */
const NEVER = /^always (?:500|403|empty)|^times out|in turn$/;

interface DrawnSeries {
  readonly task: Task;
  readonly name: string;
  readonly behaviour: Behaviour;
}

export interface Drawn {
  readonly seed: number;
  readonly appliances: readonly (readonly DrawnSeries[])[];
}

/** 1 to 40 appliances of 1 to 15 series; a quarter in economy mode. All series of an appliance behave alike, or each by itself. */
export function drawn(seed: number, isHarder = false): Drawn {
  const random = seededRandom(seed);
  const behaviours = Object.entries(isHarder ? HARDER : BEHAVIOURS);
  const draw = () => {
    const [name, make] = behaviours[Math.floor(random() * behaviours.length)] ?? ['', () => () => fails];
    return { name, behaviour: make(2 + Math.floor(random() * 8), random()) };
  };
  const count = 1 + Math.floor(random() * 40);
  const isEconomy = random() < 0.25;
  const series = 1 + Math.floor(random() * 15);
  const style = random();
  const shared = Array.from({ length: series }, draw);
  const appliances = Array.from({ length: count }, (_, serial) => {
    const alike = draw();
    return Array.from({ length: series }, (_, index): DrawnSeries => {
      const isSeldom = isEconomy && index > 0;
      const intervals = { intervalMs: minutes(isSeldom ? 60 : 5), suspendedIntervalMs: minutes(isSeldom ? 60 : 15) };
      const chosen = style < 0.4 ? alike : style < 0.7 ? (shared[index] ?? alike) : draw();
      return { ...chosen, task: task(`a${serial}/s${index}`, intervals) };
    });
  });
  return { seed, appliances };
}

/** Of each appliance one of 15 series is well, and the others return 500. */
export function mostlyFailing(appliances: number): Drawn {
  const intervals = { intervalMs: minutes(5), suspendedIntervalMs: minutes(15) };
  const seriesOf = (serial: number) =>
    Array.from({ length: 15 }, (_, index): DrawnSeries => {
      const name = index === 0 ? 'always well' : 'always 500';
      const behaviour: Behaviour = index === 0 ? (_, now) => well(now) : () => fails;
      return { name, behaviour, task: task(`a${serial}/s${index}`, intervals) };
    });
  return { seed: appliances, appliances: Array.from({ length: appliances }, (_, serial) => seriesOf(serial)) };
}

export interface Played {
  /** How often each `up` and each state that is logged changed after the first cycle, the most of any. */
  readonly maxChanges: number;
  readonly maxLines: number;
  /** What is shown at the end and is not so. */
  readonly wrong: readonly string[];
  /** Requests as a multiple of those of healthy series. */
  readonly cost: number;
  readonly polls: number;
  readonly story: readonly string[];
}

const LOOK_MS = minutes(1);

/** Plays a fleet on a manual clock with the real poller. */
export async function played({ seed, appliances }: Drawn, hours: number): Promise<Played> {
  const all = appliances.flat();
  const byId = new Map(all.map((series) => [series.task.id, series]));
  const random = seededRandom(seed);
  const tasks = all.map((series) => series.task);
  const stage = new Stage(tasks, 8, random);
  const polls = new Map<string, number>();
  stage.manner = ({ id }) => {
    const nth = (polls.get(id) ?? 0) + 1;
    polls.set(id, nth);
    const manner = byId.get(id)?.behaviour(nth, stage.clock.monotonic()) ?? fails;
    return { ...manner, ms: (manner.ms ?? 0) + random() * 2_000 };
  };
  const running = stage.run();
  const shown = new Map<string, { readonly value: number | undefined; readonly changes: number }>();
  const look = () => {
    const isComplete = polls.size === all.length;
    const values: [string, number | undefined][] = appliances.map((_, index) => [`a${index}`, upOf(stage, index)]);
    values.push(['api', toValue(stage.poller.monitor.isUp)]);
    for (const [name, value] of values) {
      const { value: before, changes = 0 } = shown.get(name) ?? {};
      const hasChanged = before !== undefined && before !== value && isComplete;
      shown.set(name, { value, changes: hasChanged ? changes + 1 : changes });
    }
  };
  let linesBefore = 0;
  for (let passed = 0; passed < minutes(60 * hours); passed += LOOK_MS) {
    if (polls.size < all.length) linesBefore = stage.lines.all.length;
    await stage.clock.advance(LOOK_MS);
    look();
  }
  const lines = new Map<string, number>();
  for (const { text, fields } of stage.lines.all.slice(linesBefore)) {
    const about = `${fields.operation ?? fields.serial ?? fields.api}: ${text}`;
    lines.set(about, (lines.get(about) ?? 0) + 1);
  }
  const health = tasks.reduce((sum, { intervalMs }) => sum + minutes(60 * hours) / intervalMs + 1, 30);
  await running.stop();
  return {
    maxChanges: Math.max(...[...shown.values()].map(({ changes }) => changes)),
    maxLines: Math.max(0, ...lines.values()),
    wrong: wrongIn(appliances, stage),
    cost: stage.started.length / health,
    polls: stage.started.length,
    story: [
      ...[...shown]
        .filter(([, { changes }]) => changes > 1)
        .map(([name, { changes }]) => {
          const [, index] = /^a(\d+)$/.exec(name) ?? [];
          const of = index === undefined ? '' : namesOf(appliances[Number(index)] ?? []);
          return `${name} changed ${changes} times: ${of}`;
        }),
      ...[...lines].filter(([, count]) => count > 1).map(([about, count]) => `${about}, ${count} times`),
    ],
  };
}

function upOf(stage: Stage, index: number): number | undefined {
  return stage.shelf.held.get(`portal/a${index}/state`)?.find(({ name }) => name === families.up.name)?.value;
}

function toValue(isUp: boolean | undefined): number | undefined {
  return isUp === undefined ? undefined : Number(isUp);
}

function wrongIn(appliances: Drawn['appliances'], stage: Stage): string[] {
  const hasWell = (series: readonly DrawnSeries[]) => series.some(({ name }) => name === 'always well');
  const wrong = appliances.flatMap((series, index) => {
    const up = upOf(stage, index);
    const isDead = series.every(({ name }) => NEVER.test(name));
    return (hasWell(series) && up !== 1) || (isDead && up !== 0) ? [`a${index} is ${up}: ${namesOf(series)}`] : [];
  });
  if (appliances.some(hasWell) && stage.poller.monitor.isUp !== true) wrong.push('the service is down');
  return wrong;
}

function namesOf(series: readonly DrawnSeries[]): string {
  return series.map(({ name, task: { intervalMs } }) => `${name} (${intervalMs / 60_000} min)`).join(', ');
}

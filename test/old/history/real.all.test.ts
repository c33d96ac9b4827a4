import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { HEADERS, type Send } from '../../src/history/delivery.ts';
import { writeRequest } from '../../src/history/write-request.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { type Ending, HOUR, MINUTE, SERIES, type Seen, World } from '../harness/world.ts';
import { going } from '../support/mock-api.ts';
import { root, temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { differences, minutesOf } from './minutes.ts';
import { influxReceiver, prometheusReceiver, type RealReceiver, victoriaReceiver } from './receivers.ts';

const START = Date.UTC(2026, 2, 2, 6);

const newer = process.env.NEWER_PROMETHEUS ?? '';
/** As docs/history.md writes it. */
const [, window = ''] = /`(storage: .+?)`/.exec(readFileSync(join(root, 'docs/history.md'), 'utf8')) ?? [];
const canRun = (program: string, ...parameters: readonly string[]) => {
  try {
    execFileSync(program, parameters, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

/** `scrapes`: its newest point is always of now, so it rejects what is an hour old. */
const receivers: readonly {
  readonly name: string;
  readonly isThere: boolean;
  readonly make: (folder: string) => Promise<RealReceiver>;
  readonly keeps: 'all' | 'ordered';
}[] = [
  { name: 'Prometheus', isThere: hasPrometheus, make: (at) => prometheusReceiver('prometheus', at), keeps: 'ordered' },
  {
    name: 'Prometheus with a window',
    isThere: hasPrometheus,
    make: (at) => prometheusReceiver('prometheus', at, window),
    keeps: 'all',
  },
  { name: 'Prometheus 3', isThere: newer !== '', make: (at) => prometheusReceiver(newer, at), keeps: 'ordered' },
  {
    name: 'Prometheus 3 with a window',
    isThere: newer !== '',
    make: (at) => prometheusReceiver(newer, at, window),
    keeps: 'all',
  },
  { name: 'VictoriaMetrics', isThere: canRun('victoria-metrics', '--version'), make: victoriaReceiver, keeps: 'all' },
  { name: 'InfluxDB', isThere: canRun('influxd', 'version'), make: influxReceiver, keeps: 'all' },
];

interface Story {
  readonly name: string;
  /** Whether an ordered receiver that scrapes loses minutes, which then are reported. */
  readonly loses?: true;
  readonly mostRejected: number;
  readonly run: (told: Told) => Promise<void>;
}

interface Told {
  readonly world: World;
  readonly receiver: RealReceiver;
  readonly hours: (hours: number) => Promise<void>;
  /** The exporter is away for so long. */
  readonly restarts: (afterMs: number, how?: Ending) => Promise<void>;
  /** Resolves when the receiver has stored a request, of which the response never arrives. */
  readonly inFlight: () => Promise<void>;
}

const stories: readonly Story[] = [
  { name: 'a restart with state', mostRejected: 0, run: ({ restarts }) => restarts(0) },
  { name: 'a restart without state', mostRejected: 3, loses: true, run: ({ restarts }) => restarts(0, 'wiped') },
  {
    name: 'a kill while a request is under way',
    mostRejected: 1,
    run: async ({ restarts, inFlight }) => {
      await inFlight();
      await restarts(0, 'killed');
    },
  },
  {
    name: 'out of order: the state is ten minutes old, as after a power failure',
    mostRejected: 3,
    loses: true,
    run: async ({ world, hours, restarts }) => {
      const saved = world.disk.content;
      await hours(1 / 6);
      world.disk.content = saved;
      await restarts(0, 'killed');
    },
  },
  {
    name: 'too old: the exporter is away for 3 hours',
    mostRejected: 30,
    loses: true,
    run: ({ restarts }) => restarts(3 * HOUR),
  },
  {
    name: 'the receiver is away for 40 minutes',
    mostRejected: 0,
    run: async ({ receiver, hours }) => {
      await receiver.kill();
      await hours(2 / 3);
      await receiver.start();
    },
  },
  {
    name: 'the receiver is away for 5 hours',
    mostRejected: 30,
    loses: true,
    run: async ({ receiver, hours }) => {
      await receiver.kill();
      await hours(5);
      await receiver.start();
    },
  },
];

/** What exporters have reported. */
class Reported {
  rejected = 0;
  lost = 0;
  dropped = 0;

  add({ scrape }: Seen): void {
    const name = 'filer_exporter_remote_write_';
    for (const { labels, value } of scrape.all(`${name}requests_total`))
      if (/^[45]/.test(labels.code ?? '')) this.rejected += value;
    this.lost += scrape.sum(`${name}lost_seconds_total`);
    this.dropped += scrape.sum(`${name}dropped_points_total`);
  }
}

describe.each(receivers.filter(({ isThere }) => isThere))('$name', ({ name, make, keeps }) => {
  test.each(stories)('$name: every minute is there, or reported', async ({ name: story, loses, mostRejected, run }) => {
    const receiver = await make(temporaryDirectory());
    await receiver.start();
    onTestFinished(() => receiver.kill());
    let onStored: (() => void) | undefined;
    const send: Send = async (...request) => {
      const response = await world.clock.holds(receiver.send(...request));
      if (onStored === undefined) return response;
      onStored();
      return new Promise(() => {});
    };
    const world: World = await World.begin({
      appliances: 2,
      state: true,
      at: START,
      lookMs: HOUR,
      environment: { PORTAL_COLLECTORS: 'telemetry' },
      receiver: send,
    });
    const reported = new Reported();
    const restarts = async (afterMs: number, how?: Ending) => {
      reported.add(await world.sees());
      await world.restarts(afterMs, how);
      onStored = undefined;
    };
    const inFlight = async () => {
      let isStored = false;
      onStored = () => {
        isStored = true;
      };
      await world.until('a request to be stored', () => isStored);
    };
    /** A scrape each five minutes, so that the receiver's newest point is of now. */
    const hours = async (of: number) => {
      for (let left = of * HOUR; left > 0; left -= 5 * MINUTE) {
        const scraped = { labels: [['__name__', 'up']] as const, times: [world.clock.now()], values: [1] };
        await receiver.send(HEADERS, runToEnd(writeRequest([scraped])), going).catch(() => {});
        await world.passes(5 * MINUTE);
      }
    };
    await hours(2);
    await run({ world, receiver, hours, restarts, inFlight });
    await hours(3);
    reported.add(await world.sees());
    const to = world.clock.now() - 25 * MINUTE;
    const held = await receiver.points(START, to);
    for (const key of held.keys()) if (key.includes('__name__=up')) held.delete(key);
    const found = differences(await minutesOf(world, { from: START, to, series: SERIES }), held);
    const missing = found.filter((line) => line.startsWith('missing'));
    process.stderr.write(`${JSON.stringify({ receiver: name, story, missing: missing.length, ...reported })}\n`);
    expect(found.filter((line) => !line.startsWith('missing')).slice(0, 3)).toEqual([]);
    expect(reported.rejected).toBeLessThanOrEqual(mostRejected);
    if (keeps === 'all' || loses === undefined) expect(missing.slice(0, 3)).toEqual([]);
    // Each lost minute has up to four points.
    expect(missing.length).toBeLessThanOrEqual(reported.dropped + (reported.lost / 60) * 4);
  });
});

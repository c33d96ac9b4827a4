import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, onTestFinished, test } from 'vitest';
import { HEADERS, type Send } from '../../src/history/delivery.ts';
import { writeRequest } from '../../src/history/write-request.ts';
import { runToEnd } from '../../src/runtime/slices.ts';
import { readAgain } from '../support/kept.ts';
import { root, temporaryDirectory } from '../support/program.ts';
import { hasPrometheus } from '../support/prometheus.ts';
import { differences, MINUTE_MS, PortalPlay } from './portal-play.ts';
import { influxReceiver, prometheusReceiver, type RealReceiver, victoriaReceiver } from './receivers.ts';

const START = Date.UTC(2026, 2, 2, 6);
const HOUR_MS = 60 * MINUTE_MS;

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
  readonly play: PortalPlay;
  readonly receiver: RealReceiver;
  readonly hours: (hours: number) => Promise<void>;
  /** Ends the process after the receiver has stored a request, and before the response arrives. */
  readonly killInFlight: () => Promise<void>;
}

const stories: readonly Story[] = [
  { name: 'a restart with state', mostRejected: 0, run: async ({ play }) => play.restart() },
  { name: 'a restart without state', mostRejected: 3, loses: true, run: async ({ play }) => play.restart(null) },
  {
    name: 'a kill while a request is under way',
    mostRejected: 1,
    run: ({ killInFlight }) => killInFlight(),
  },
  {
    name: 'out of order: the state is ten minutes old, as after a power failure',
    mostRejected: 3,
    loses: true,
    run: async ({ play, hours }) => {
      const saved = readAgain(play.remote.cursors.all());
      await hours(1 / 6);
      play.restart(saved);
    },
  },
  {
    name: 'too old: the exporter is away for 3 hours',
    mostRejected: 30,
    loses: true,
    run: async ({ play }) => {
      await play.clock.advance(3 * HOUR_MS);
      play.restart();
    },
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

/** What all processes have reported. */
function countsOf(processes: PortalPlay['processes']) {
  const counts = { rejected: 0, lost: 0, dropped: 0 };
  const sum = (all: ReadonlyMap<string, number>) => [...all.values()].reduce((total, one) => total + one, 0);
  for (const remote of processes) {
    const { responses, lost, dropped } = remote.status();
    for (const [code, requests] of responses) if (/^[45]/.test(code)) counts.rejected += requests;
    counts.lost += sum(lost);
    counts.dropped += sum(dropped);
  }
  return counts;
}

describe.each(receivers.filter(({ isThere }) => isThere))('$name', ({ name, make, keeps }) => {
  test.each(stories)('$name: every minute is there, or reported', async ({ name: story, loses, mostRejected, run }) => {
    const receiver = await make(temporaryDirectory());
    await receiver.start();
    onTestFinished(() => receiver.kill());
    const series = ['cpu_utilization', 'cache_utilization', 'load_average'];
    let onStored: (() => void) | undefined;
    const send: Send = async (...request) => {
      const response = await receiver.send(...request);
      if (onStored === undefined) return response;
      onStored();
      return new Promise(() => {});
    };
    const play = await PortalPlay.begin({ appliances: 2, series, start: START, send });
    onTestFinished(() => play.close());
    const { signal } = new AbortController();
    const killInFlight = async () => {
      await play.poll();
      await new Promise<void>((resolve) => {
        onStored = resolve;
        void play.remote.flush(signal);
      });
      onStored = undefined;
      play.restart();
    };
    /** A scrape in each round, so that the receiver's newest point is of now. */
    const hours = async (of: number) => {
      for (let left = of * HOUR_MS; left > 0; left -= 5 * MINUTE_MS) {
        const scraped = { labels: [['__name__', 'up']] as const, times: [play.clock.now()], values: [1] };
        const body = runToEnd(writeRequest([scraped]));
        await receiver.send(HEADERS, body, signal).catch(() => {});
        await play.round();
      }
    };
    await hours(2);
    await run({ play, receiver, hours, killInFlight });
    await hours(3);
    const counts = countsOf(play.processes);
    const to = play.clock.now() - 25 * MINUTE_MS;
    const held = await receiver.points(START, to);
    for (const key of held.keys()) if (key.includes('__name__=up')) held.delete(key);
    const found = differences(await play.truth(START, to), held);
    const missing = found.filter((line) => line.startsWith('missing'));
    process.stderr.write(`${JSON.stringify({ receiver: name, story, missing: missing.length, ...counts })}\n`);
    expect(found.filter((line) => !line.startsWith('missing')).slice(0, 3)).toEqual([]);
    expect(counts.rejected).toBeLessThanOrEqual(mostRejected);
    if (keeps === 'all' || loses === undefined) expect(missing.slice(0, 3)).toEqual([]);
    // Each lost minute has up to four points.
    expect(missing.length).toBeLessThanOrEqual(counts.dropped + (counts.lost / 60) * 4);
  });
});

import { upstreamCatalog } from '../catalog.ts';
import type { Config } from '../config/config.ts';
import type { Task } from '../contract/task.ts';
import { headerLines } from '../exposition/format.ts';
import { Backfill, type HistoryTask, MAX_READ_AGE_MS } from '../history/backfill/backfill.ts';
import { Spool } from '../history/backfill/spool.ts';
import { BIN_COMPLETE_AFTER_MS } from '../history/points.ts';
import { ConfigError } from '../runtime/errors.ts';
import { likelyTypo } from '../runtime/suggest.ts';
import { FilerNames } from '../services/filer-names.ts';
import { configuredServices, services } from '../services/services.ts';
import type { Environment } from './environment.ts';
import { connectService } from './service-client.ts';

export interface BackfillOptions {
  /** How long ago the period begins and ends, in milliseconds. */
  readonly sinceMs: number;
  readonly untilMs: number;
  readonly labels: Readonly<Record<string, string>>;
  /** Names or serials; undefined for every appliance. */
  readonly filers: readonly string[] | undefined;
  /** Undefined for every polled series. */
  readonly series: readonly string[] | undefined;
  /** The share of the configured limits to use, above 0 up to 1. */
  readonly share: number;
  readonly folder: string;
}

export type BackfillRun = Awaited<ReturnType<typeof createBackfill>>;

/** Reads the inventory and opens the work folder. Throws a ConfigError for an invalid choice. */
export async function createBackfill(
  config: Config,
  environment: Environment,
  options: BackfillOptions,
  signal: AbortSignal,
) {
  const { labels, share, filers, folder } = options;
  const { clock, random } = environment;
  const { binMs, ...configured } = pastOf(config, options.series);
  const part = (requests: number) => Math.max(1, Math.floor(requests * share));
  let responded = 0;
  const { target, pacer, collector, inventory, now, release } = connectService(configured, {
    config,
    environment,
    keeper: undefined,
    names: new FilerNames(config.filerAliases),
    observer: {
      onEnd: () => {
        responded += 1;
      },
    },
    limits: ({ limit, dailyLimit, maxPerMs }) => ({
      limit: { ...limit, requests: part(limit.requests) },
      dailyLimit: dailyLimit === undefined ? undefined : part(dailyLimit),
      maxPerMs: maxPerMs * share,
    }),
  });
  try {
    // This is first: with its response the exporter knows the time by the service's clock.
    await inventory?.count(signal);
    const tasks = ofAppliances([...collector.tasks()].filter(hasHistory), filers);
    const aligned = (agoMs: number) => Math.floor((now() - agoMs) / binMs) * binMs;
    const spool = await Spool.open(
      folder,
      {
        fingerprint: fingerprintOf(target.baseUrl, binMs, options),
        from: aligned(Math.min(options.sinceMs, MAX_READ_AGE_MS)),
        // Younger bins may be incomplete.
        to: aligned(Math.max(options.untilMs, BIN_COMPLETE_AFTER_MS)),
      },
      new Set(upstreamCatalog.map(({ name }) => name)),
      clock,
    );
    const { from, to } = spool.request;
    return {
      from,
      to,
      binMs,
      spool,
      close: (late: AbortSignal) => {
        spool.release();
        return release(late);
      },
      tasks,
      backfill: new Backfill({ binMs, labels, workers: target.concurrency, spool, clock, now, random }),
      /** The number of requests that have a response, and the rate that the limits sustain. */
      requests: () => ({ responded, perSecond: pacer.sustainedPerSecond }),
    };
  } catch (error) {
    await release(signal);
    throw error;
  }
}

/** Everything that was read, in OpenMetrics: each family once, with its header. */
export async function* openMetrics(spool: Spool): AsyncGenerator<string | Buffer> {
  const spooled = new Set(spool.families);
  for (const family of upstreamCatalog) {
    if (!spooled.has(family.name)) continue;
    yield headerLines(family, 'openmetrics');
    yield* spool.read(family.name);
  }
  yield '# EOF\n';
}

function pastOf(config: Config, series: readonly string[] | undefined) {
  for (const configured of configuredServices(config)) {
    const { history } = configured.service;
    if (history === undefined) continue;
    const { binMs } = history.bins(configured.settings);
    return { ...configured, settings: history.past(configured.settings, series), binMs };
  }
  const urls = services.flatMap(({ history, section }) => (history === undefined ? [] : [section.url]));
  throw new ConfigError([`--backfill: ${urls.join(' and ')} is not set`]);
}

function hasHistory(task: Task): task is HistoryTask {
  return task.readHistory !== undefined;
}

/**
 * Returns a fingerprint, which is the same for equal requests. It leaves out the limits and the work folder, because they
 * may differ between runs.
 */
function fingerprintOf(
  url: string,
  binMs: number,
  { sinceMs, untilMs, labels, filers, series }: BackfillOptions,
): string {
  return JSON.stringify([url, binMs, sinceMs, untilMs, Object.entries(labels), filers ?? [], series ?? []]);
}

function ofAppliances(tasks: readonly HistoryTask[], filers: readonly string[] | undefined): readonly HistoryTask[] {
  if (filers === undefined) return tasks;
  const appliances = tasks.flatMap(({ appliance }) => appliance ?? []);
  const names = appliances.flatMap(({ serial, name }) => [[serial, serial] as const, [name, serial] as const]);
  const known = new Map(names.map(([name, serial]) => [name.toLowerCase(), serial]));
  const errors = filers.flatMap((filer) => {
    if (known.has(filer.toLowerCase())) return [];
    const meant = likelyTypo(filer.toLowerCase(), [...known.keys()]);
    const hint = meant === undefined ? 'expected its name or its id in the inventory' : `did you mean ${meant}?`;
    return [`--filers: ${JSON.stringify(filer)} is not a polled appliance; ${hint}`];
  });
  if (errors.length > 0) throw new ConfigError(errors);
  const serials = new Set(filers.map((filer) => known.get(filer.toLowerCase())));
  return tasks.filter(({ appliance }) => serials.has(appliance?.serial));
}

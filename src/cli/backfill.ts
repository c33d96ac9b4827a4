import process from 'node:process';
import { type BackfillRun, createBackfill, openMetrics } from '../app/backfill.ts';
import type { Config } from '../config/config.ts';
import { formatInteger, roundDuration } from '../planning/plan.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError, ConfigError } from '../runtime/errors.ts';
import { createLog } from '../runtime/log.ts';
import { printable } from '../runtime/printable.ts';
import { EXIT } from './arguments.ts';
import type { ParsedOptions } from './backfill-options.ts';
import { lineMask } from './load.ts';
import { abortOn, systemEnvironment } from './system-environment.ts';

const PROGRESS_MS = 15_000;

/** Failures that are listed one by one. */
const MAX_LISTED = 20;

/** Reads the history of what is configured and prints it as OpenMetrics; resolves with the exit code. */
export async function runBackfill(config: Config, options: ParsedOptions, stopped: Promise<void>): Promise<number> {
  if (process.stdout.isTTY)
    throw new ConfigError([
      '--backfill: the history is too long for a terminal; send it to a file, as in > history.om',
    ]);
  const environment = systemEnvironment(createLog('warn', process.stderr, lineMask(config)));
  const { clock } = environment;
  const signal = abortOn(stopped);
  const labels = options.labels ?? config.remoteWrite?.labels ?? {};
  if (Object.keys(labels).length === 0)
    writeLine('without --labels the series have no job and no instance, which scraped series have');
  try {
    const run = await createBackfill(config, environment, { ...options, labels }, signal);
    try {
      return await readAndPrint(run, clock, options.folder, signal);
    } finally {
      const late = new AbortController();
      void clock.sleep(config.shutdownTimeoutMs).then(() => late.abort());
      await run.close(late.signal);
    }
  } catch (error) {
    if (!isOfSystem(error)) throw error;
    writeLine(`${error.message}; ${options.folder} keeps what was read: repeat the same command to continue`);
    return EXIT.failure;
  }
}

/**
 * Whether the system caused the error, such as a full disk, a folder without permission, or a closed standard output.
 */
function isOfSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}

async function readAndPrint(run: BackfillRun, clock: Clock, folder: string, signal: AbortSignal): Promise<number> {
  const { tasks, spool, backfill } = run;
  const known = tasks.filter(({ id }) => spool.done.has(id)).length;
  writeLine(
    `${formatInteger(tasks.length)} series of appliances, ${momentOf(run.from)} to ${momentOf(run.to)}; work folder ${folder}`,
  );
  if (known > 0) writeLine(`${formatInteger(known)} of them were read before the interruption`);
  const ended = new AbortController();
  const writing = writeProgress(run, known, clock, ended.signal);
  try {
    await backfill.run(tasks, signal);
  } finally {
    ended.abort();
    await writing;
  }
  const isAny = tasks.some(({ id }) => spool.done.get(id)?.outcome === 'read');
  if (!signal.aborted) {
    for (const line of summaryOf(run)) writeLine(line);
    if (isAny) await print(run, signal);
  }
  if (signal.aborted) {
    writeLine('stopped; repeat the same command to continue');
    return EXIT.failure;
  }
  const isComplete = backfill.failures.size === 0;
  if (!isComplete)
    writeLine(`not all of it was read: repeat the same command for the rest; ${folder} keeps what was read`);
  if (!isAny || !isComplete) return EXIT.failure;
  await spool.remove();
  return EXIT.clean;
}

/** `known`: how many series were read before. */
async function writeProgress(run: BackfillRun, known: number, clock: Clock, signal: AbortSignal): Promise<void> {
  const begun = clock.monotonic();
  for (;;) {
    await clock.sleep(PROGRESS_MS, signal);
    if (signal.aborted) return;
    writeLine(progressOf(run, known, clock.monotonic() - begun, clock.now()));
  }
}

function writeLine(line: string): void {
  process.stderr.write(`backfill: ${printable(line)}\n`);
}

/** Writes everything to stdout. Throws if stdout is closed or full. */
async function print({ spool }: BackfillRun, signal: AbortSignal): Promise<void> {
  for await (const piece of openMetrics(spool)) {
    if (signal.aborted) return;
    await new Promise<void>((resolve, reject) => {
      process.stdout.write(piece, (error) => (error ? reject(error) : resolve()));
    });
  }
}

function progressOf(run: BackfillRun, known: number, elapsedMs: number, now: number): string {
  const { tasks, spool, backfill } = run;
  const done = tasks.filter(({ id }) => spool.done.has(id) || backfill.failures.has(id)).length;
  const left = tasks.length - done;
  const { responded, perSecond } = run.requests();
  const points = tasks.reduce((sum, { id }) => sum + (spool.done.get(id)?.points ?? 0), 0);
  const leftMs = (elapsedMs / (done - known)) * left;
  return [
    `${formatInteger(done)} of ${formatInteger(tasks.length)} series read, ${formatInteger(points)} points, ${formatInteger(responded)} requests`,
    `${formatInteger(left)} left`,
    done > known
      ? `ends in ${roundDuration(leftMs)}, at ${momentOf(now + leftMs)}`
      : `at most ${perSecond.toFixed(2)} requests a second`,
  ].join('; ');
}

function summaryOf({ tasks, spool, backfill, from, to, binMs }: BackfillRun): readonly string[] {
  const expected = Math.round((to - from) / binMs);
  const operations = new Set(tasks.map(({ operation }) => operation));
  const lines = [...operations].map((operation) => {
    const own = tasks.filter((task) => task.operation === operation);
    const spooled = own.flatMap(({ id }) => spool.done.get(id) ?? []);
    const none = spooled.filter(({ outcome }) => outcome === 'none').length;
    const failed = own.length - spooled.length;
    const read = spooled.length - none;
    const bins = spooled.reduce((sum, one) => sum + one.bins, 0);
    const share = read === 0 ? 0 : Math.floor((1000 * bins) / (expected * read)) / 10;
    const parts = [`${operation}: ${read} of ${own.length} appliances`];
    if (read > 0) parts.push(`${formatInteger(bins)} bins, ${share} % of the period`);
    if (none > 0) parts.push(`the service has no history of ${none}`);
    if (failed > 0) parts.push(`${failed} failed`);
    return parts.join('; ');
  });
  const unused = [...backfill.unused].map(([reason, count]) => `${formatInteger(count)} ${reason}`);
  const failures = [...backfill.failures].slice(0, MAX_LISTED).map(([, error]) => `failed: ${asError(error).message}`);
  const more = backfill.failures.size - failures.length;
  return [
    ...lines,
    ...(unused.length > 0 ? [`not used: ${unused.join(', ')}`] : []),
    ...failures,
    ...(more > 0 ? [`failed: ${formatInteger(more)} more`] : []),
  ];
}

/** Formats a time to the minute, in UTC. */
function momentOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16)}Z`;
}

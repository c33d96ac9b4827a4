import { setTimeout as sleep } from 'node:timers/promises';
import type { Front } from '../support/front.ts';
import type { LogLine } from '../support/program.ts';
import type { Scrape } from '../support/scrape.ts';
import type { Instance, Setup } from './instance.ts';
import type { Lateness } from './lateness.ts';
import { apiOf, type Row } from './row.ts';

/** A row that is being played. */
export interface Course {
  readonly row: Row;
  readonly setup: Setup;
  readonly instance: Instance;
  readonly lateness: Lateness;
  /** Before the service that the row is about. */
  readonly front: Front;
  /** Of the appliance that it is about. */
  readonly serial: string;
  /** How things stood before it. */
  readonly before: Scrape;
  /** So many lines of the log were there before it. */
  readonly logged: number;
  /** When it began, by `performance.now()`. */
  readonly begunAt: number;
}

/** How much longer than promised something may take where the machine is not late at all, in milliseconds: a look and a way. */
export const GRACE_MS = 1_000;

/** Time between two looks, in milliseconds. */
const PAUSE_MS = 250;

/** The lines of a row; of the other service with its name in front, for it is not meant. */
export function linesSince({ row, instance, logged }: Course): readonly LogLine[] {
  const own = apiOf(row.operation);
  return instance.log
    .slice(logged)
    .map((line) =>
      line.api === undefined || line.api === own ? line : { ...line, msg: `${String(line.api)}: ${line.msg}` },
    );
}

/**
 * Looks until nothing is missing any more; `look` says what is. The machine's own lateness comes on top of the time that
 * is given.
 */
export async function until(
  what: string,
  look: () => string | undefined | Promise<string | undefined>,
  withinMs: number,
  lateness: Lateness,
): Promise<void> {
  const from = performance.now();
  for (;;) {
    const begun = performance.now();
    const missing = await look();
    if (missing === undefined) return;
    const lateMs = lateness.between(from, performance.now());
    if (begun - from > withinMs + lateMs) {
      throw new Error(`waited ${withinMs} ms and ${Math.round(lateMs)} ms of lateness for ${what}: ${missing}`);
    }
    await sleep(PAUSE_MS);
  }
}

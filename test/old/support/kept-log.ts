import { createLog, type Log } from '../../src/runtime/log.ts';
import type { LogLine } from './program.ts';

/** A log that keeps its lines. */
export function keptLog(level: string): { readonly log: Log; readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  return { log: createLog(level, { write: (line) => void lines.push(JSON.parse(line) as LogLine) }), lines };
}

import { createLog, type Log } from '../../src/runtime/log.ts';

export type LogLine = Readonly<Record<string, unknown>> & { readonly level: string; readonly msg: string };

/** A log that keeps its lines. */
export function keptLog(level = 'info'): { readonly log: Log; readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  return { log: createLog(level, { write: (line) => void lines.push(JSON.parse(line) as LogLine) }), lines };
}

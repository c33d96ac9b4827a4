import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runPrometheus } from './prometheus.ts';

/** A real Prometheus with a past of its own. */
export interface PastPrometheus {
  /** What a query gives at a moment in Unix seconds: the value of each series, by its labels as JSON. */
  query(text: string, at: number): Promise<ReadonlyMap<string, number>>;
  close(): void;
}

/** Starts one that scrapes nothing and has an OpenMetrics text with timestamps as its past. */
export async function prometheusWith(openMetrics: string): Promise<PastPrometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-prometheus-'));
  const past = join(folder, 'past.om');
  writeFileSync(past, openMetrics);
  const blocks = ['tsdb', 'create-blocks-from', 'openmetrics', past, join(folder, 'data')];
  execFileSync('promtool', blocks, { stdio: 'ignore' });
  const { child, query } = await runPrometheus(folder, 'scrape_configs: []\n', '--storage.tsdb.retention.time=100y');
  return {
    query: async (text, at) =>
      new Map((await query(text, at)).map(({ metric, value }) => [JSON.stringify(metric), Number(value[1])])),
    close: () => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

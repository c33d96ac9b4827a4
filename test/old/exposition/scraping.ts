import type { ServiceName } from '../../src/contract/poll-result.ts';
import { ExporterMetrics } from '../../src/exposition/exporter/metrics.ts';
import { MetricsPage, type MetricsPageOptions } from '../../src/exposition/metrics-page.ts';
import type { LineStore } from '../../src/exposition/store.ts';
import type { Clock } from '../../src/runtime/clock.ts';

interface Parts {
  readonly apis?: readonly ServiceName[];
  readonly expire?: () => Promise<void>;
  readonly status?: MetricsPageOptions['status'];
}

/** Scrapes of an exposition, with an exporter behind it that has nothing to say of itself beside its samples. */
export function scraping(
  exposition: LineStore,
  clock: Clock,
  {
    apis = ['gfa'],
    expire = async () => {},
    status = async () => ({ apis: [], own: new Map(), warnings: [] }),
  }: Parts = {},
): MetricsPage {
  const own = new ExporterMetrics({ version: '1', revision: 'r', node_version: 'v20' }, apis);
  return new MetricsPage({ exposition, own, status, expire, clock });
}

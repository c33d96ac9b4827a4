import type { Exposition } from '../../src/exposition/exposition.ts';
import { OwnMetrics } from '../../src/exposition/own/metrics.ts';
import { Scrapes } from '../../src/exposition/scrapes.ts';
import type { Api } from '../../src/metrics/snapshot.ts';
import type { Clock } from '../../src/runtime/clock.ts';

interface Parts {
  readonly apis?: readonly Api[];
  readonly expire?: () => Promise<void>;
  readonly status?: () => Promise<{ readonly apis: [] }>;
}

/** Scrapes of an exposition, with an exporter behind it that has nothing to say of itself beside its samples. */
export function scraping(
  exposition: Exposition,
  clock: Clock,
  { apis = ['gfa'], expire = async () => {}, status = async () => ({ apis: [] }) }: Parts = {},
): Scrapes {
  const own = new OwnMetrics({ version: '1', revision: 'r', node_version: 'v20' }, apis);
  return new Scrapes({ exposition, own, status, expire, clock });
}

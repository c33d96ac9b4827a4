import type { Config } from '../config/config.ts';
import type { SampleCounts } from './plan.ts';

/**
 * What a fleet will need. It is an estimate, because an account's objects besides appliances are known only after
 * polling.
 */
export interface EstimatedSize {
  readonly samples: number;
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly memoryBytes: number;
}

/** The number of volumes that is assumed on each appliance. */
export const VOLUMES = 5;

/**
 * The bytes of a line, and the share of them that remains after gzip. Both were measured with the mock services, and
 * are right within a quarter.
 */
const LINE = { bytes: 168, packedShare: 0.1 } as const;

/**
 * The peak memory of a process without data, and what each sample adds, measured with Node.js 24. Node.js 20 needs up
 * to a sixth less.
 */
const MEMORY = { emptyBytes: 98 * 2 ** 20, perSample: 680 } as const;

export function sizeOf(shares: readonly SampleCounts[], events: Config['events'], appliances: number): EstimatedSize {
  // Every histogram has the infinite bucket, sum and count.
  const lines = 3 + (events.histograms ? events.bucketsSeconds.length : 0);
  const samples = shares.reduce((sum, { account = 0, appliance = 0, volume = 0, histograms = 0 }) => {
    return sum + account + appliances * (appliance + VOLUMES * (volume + histograms * lines));
  }, 0);
  const bytes = samples * LINE.bytes;
  const memoryBytes = MEMORY.emptyBytes + MEMORY.perSample * samples;
  return { samples, bytes, gzipBytes: bytes * LINE.packedShare, memoryBytes };
}

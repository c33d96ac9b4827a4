import type { Config } from '../config/config.ts';
import type { SampleCounts } from './plan.ts';

/** Estimated: an account's objects besides appliances are known only after polling. */
export interface EstimatedSize {
  readonly samples: number;
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly memoryBytes: number;
}

/** Assumed on each appliance. */
export const VOLUMES = 5;

/** Bytes of a line, and the share left by gzip: measured with the stand-in, within a quarter. */
const LINE = { bytes: 168, packedShare: 0.1 } as const;

/** The peak of an empty process, and what each sample adds: with Node.js 24; with Node.js 20 up to a sixth less. */
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

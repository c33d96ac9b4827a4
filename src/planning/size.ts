import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Config } from '../config/config.ts';
import type { FamilyHeader } from '../exposition/format.ts';
import { LineStore } from '../exposition/store.ts';
import { seededRandom } from '../runtime/random.ts';
import type { FleetPlan, SampleShare } from './plan.ts';

/** Estimated: an account's objects besides appliances are known only after polling. */
export interface Size {
  readonly samples: number;
  readonly bytes: number;
  readonly packed: number;
  readonly memoryBytes: number;
}

/** The assumed number of volumes on each appliance. */
export const VOLUMES = 5;

/** The most appliances whose series are written to measure their size; larger fleets are extrapolated. */
const SAMPLED_APPLIANCES = 50;

const LINE = { bytes: 190, packedShare: 0.1 } as const;

/** The peak of an empty process, and what each sample adds: with Node.js 24; with Node.js 20 up to a sixth less. */
const MEMORY = { emptyBytes: 98 * 2 ** 20, perSample: 680 } as const;

export async function sizeOf(
  fleet: FleetPlan,
  shares: readonly SampleShare[],
  events: Config['events'],
  families: readonly FamilyHeader[],
): Promise<Size> {
  const series = await seriesSize(fleet, families);
  const others = shares.reduce((sum, share) => sum + samplesOf(share, events, fleet.plan.demand.appliances), 0);
  const samples = series.samples + others;
  return {
    samples,
    bytes: series.bytes + others * LINE.bytes,
    packed: series.packed + others * LINE.bytes * LINE.packedShare,
    memoryBytes: MEMORY.emptyBytes + MEMORY.perSample * samples,
  };
}

function samplesOf(
  { account = 0, appliance = 0, volume = 0, histograms = 0 }: SampleShare,
  events: Config['events'],
  of: number,
) {
  // Every histogram has the infinite bucket, sum and count.
  const each = 3 + (events.histograms ? events.bucketsSeconds.length : 0);
  return account + of * (appliance + VOLUMES * (volume + histograms * each));
}

async function seriesSize(
  { plan, samples }: FleetPlan,
  families: readonly FamilyHeader[],
): Promise<Omit<Size, 'memoryBytes'>> {
  const { appliances } = plan.demand;
  const store = new LineStore(families);
  const written = Math.min(appliances, SAMPLED_APPLIANCES);
  const random = seededRandom(1);
  for (let index = 0; index < written; index += 1) {
    store.publish({ task: `appliance-${index}`, samples: samples(index, random) });
  }
  const text = store.whole('text');
  const packed = (await promisify(gzip)(text, { level: 1 })).length;
  const scale = written === 0 ? 0 : appliances / written;
  return { samples: store.samples * scale, bytes: text.length * scale, packed: packed * scale };
}

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { EventsConfig } from '../config/config.ts';
import type { FamilyHeader } from '../exposition/format.ts';
import { LineStore } from '../exposition/store.ts';
import { seededRandom } from '../runtime/random.ts';
import type { FleetPlan, SampleShare } from './plan.ts';

/** What an exposition comes to: estimates, for what an account has beside appliances is known only once it is polled. */
export interface Size {
  readonly samples: number;
  readonly bytes: number;
  readonly packed: number;
  /** Of the process. */
  readonly memoryBytes: number;
}

/** Volumes on each appliance, as long as nobody has asked. */
export const VOLUMES = 5;

/** Appliances whose series are written out to know their size; more are counted as many times. */
const SAMPLED_APPLIANCES = 50;

/** Bytes of a line about a volume or an account, and what gzip leaves of it. */
const LINE = { bytes: 190, packedShare: 0.1 } as const;

/** The process with nothing in it, and what each sample adds, parsing and packing included: measured up to 136,000 samples. */
const MEMORY = { emptyBytes: 105 * 2 ** 20, perSample: 1_000 } as const;

/** The size of an exporter's exposition for so many appliances; `families`: all that it may have. */
export async function sizeOf(
  fleet: FleetPlan,
  shares: readonly SampleShare[],
  events: EventsConfig,
  families: readonly FamilyHeader[],
): Promise<Size> {
  const series = await seriesSize(fleet, families);
  const others = shares.reduce((sum, share) => sum + samplesOf(share, events, fleet.appliances), 0);
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
  events: EventsConfig,
  of: number,
) {
  // The infinite bucket, sum and count are there in any case.
  const each = 3 + (events.histograms ? events.bucketsSeconds.length : 0);
  return account + of * (appliance + VOLUMES * (volume + histograms * each));
}

/** Writes the series of some appliances as they would be, and scales it up. */
async function seriesSize(
  { appliances, samples }: FleetPlan,
  families: readonly FamilyHeader[],
): Promise<Omit<Size, 'memoryBytes'>> {
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

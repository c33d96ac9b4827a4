import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { upstreamCatalog } from '../catalog.ts';
import type { EventsConfig } from '../config/config.ts';
import { LineStore } from '../exposition/store.ts';
import { seededRandom } from '../runtime/random.ts';
import type { PortalConfig } from '../sources/portal/configuration.ts';
import { applianceSamples } from '../sources/portal/planning.ts';

/** What an exposition comes to: estimates, for what an account has beside appliances is known only once it is polled. */
export interface Size {
  readonly samples: number;
  readonly bytes: number;
  readonly packed: number;
  /** Of the process. */
  readonly memoryBytes: number;
}

/** What is switched on. */
export interface Switched {
  readonly portal: PortalConfig;
  /** Whether the file acceleration service is polled too. */
  readonly hasGfa: boolean;
  readonly events: EventsConfig;
}

/** Volumes on each appliance, as long as nobody has asked. */
export const VOLUMES = 5;

/** Appliances whose series are written out to know their size; more are counted as many times. */
const SAMPLED_APPLIANCES = 50;

/**
 * Samples of a collector: for the account, for each appliance, and for each volume on each appliance, with what a histogram
 * takes apart. From the answers of the stand-in; a test holds the sum within a fifth of what an exporter serves.
 */
interface Share {
  readonly account?: number;
  readonly appliance?: number;
  readonly volume?: number;
  /** Histograms for each volume on each appliance. */
  readonly histograms?: number;
}

const GFA: Share = { volume: 7.7, histograms: 1.7 };

const COLLECTORS: Readonly<Record<string, Share>> = {
  volumes: { volume: 11.2 },
  volume_telemetry: { volume: 9, histograms: 2.3 },
  edges: { appliance: 8.4 },
  fiq: { account: 15 },
  license: { account: 21 },
  notifications: { account: 40 },
  jobs: { account: 33 },
  credentials: { account: 27 },
  indexing: { account: 34 },
  stacks: { account: 8 },
  software: { account: 51 },
  iam: { account: 6 },
  health: { account: 1 },
  gfa_keys: { account: 4 },
};

/** Bytes of a line about a volume or an account, and what gzip leaves of it. */
const LINE = { bytes: 190, packedShare: 0.1 } as const;

/** The process with nothing in it, and what each sample adds, parsing and packing included: measured up to 136,000 samples. */
const MEMORY = { emptyBytes: 105 * 2 ** 20, perSample: 1_000 } as const;

/** The size of an exporter's exposition for so many appliances. */
export async function sizeOf(switched: Switched, appliances: number): Promise<Size> {
  const { portal, hasGfa } = switched;
  const series = await seriesSize(portal, appliances);
  const shares = [...portal.collectors.map(({ name }) => COLLECTORS[name] ?? {}), ...(hasGfa ? [GFA] : [])];
  // One line for each appliance by the inventory.
  const others = shares.reduce((sum, share) => sum + samplesOf(share, switched.events, appliances), 2 * appliances);
  const samples = series.samples + others;
  return {
    samples,
    bytes: series.bytes + others * LINE.bytes,
    packed: series.packed + others * LINE.bytes * LINE.packedShare,
    memoryBytes: MEMORY.emptyBytes + MEMORY.perSample * samples,
  };
}

function samplesOf(
  { account = 0, appliance = 0, volume = 0, histograms = 0 }: Share,
  events: EventsConfig,
  of: number,
) {
  // The infinite bucket, sum and count are there in any case.
  const each = 3 + (events.histograms ? events.bucketsSeconds.length : 0);
  return account + of * (appliance + VOLUMES * (volume + histograms * each));
}

/** Writes the series of some appliances as they would be, and scales it up. */
async function seriesSize(portal: PortalConfig, appliances: number): Promise<Omit<Size, 'memoryBytes'>> {
  const store = new LineStore(upstreamCatalog);
  const written = Math.min(appliances, SAMPLED_APPLIANCES);
  const random = seededRandom(1);
  for (let index = 0; index < written; index += 1) {
    store.publish({ task: `appliance-${index}`, samples: applianceSamples(portal, index, random) });
  }
  const text = store.whole('text');
  const packed = (await promisify(gzip)(text, { level: 1 })).length;
  const scale = written === 0 ? 0 : appliances / written;
  return { samples: store.samples * scale, bytes: text.length * scale, packed: packed * scale };
}

import type { Fields } from '../../../metrics/family.ts';
import { decimal } from '../../../metrics/units.ts';
import type { Variant } from '../../../metrics/variant.ts';
import type { PortalClient } from '../client.ts';
import { newestFirst } from '../records.ts';

const SERIES = 'cache_hits_misses';
const MINUTE_MS = 60_000;
const LONG_BIN_MS = 5 * MINUTE_MS;
const PERIODS = ['P30D', 'P7D', 'P1D'] as const;

/**
 * Tests what the documentation leaves open about bins and periods (upstream-api.md 7) with one appliance: requests the
 * same half hour in bins of one and of five minutes, and the longest period that the service accepts.
 */
export async function askBins(client: PortalClient, serial: string, signal: AbortSignal): Promise<readonly Variant[]> {
  const ask = async (period: string, bin_size: number): Promise<readonly Fields[] | undefined> => {
    const path = `/telemetry/appliances/${encodeURIComponent(serial)}/${SERIES}`;
    try {
      const json = { period, bin_size };
      return newestFirst(await client.send({ method: 'POST', path, operation: SERIES, json }, signal), () => {});
    } catch (error) {
      if (signal.aborted) throw error;
      return undefined;
    }
  };
  const told: Variant[] = [];
  const minutes = await ask('PT30M', 60);
  const bins = await ask('PT30M', LONG_BIN_MS / 1000);
  if (minutes !== undefined && bins !== undefined) told.push(...binVariants(minutes, bins));
  for (const period of PERIODS) {
    if ((await ask(period, 3600)) === undefined) continue;
    told.push({ question: 'longest_period', answer: period });
    break;
  }
  return told;
}

/** What the same half hour in bins of one and of five minutes shows; records newest first. */
export function binVariants(minutes: readonly Fields[], bins: readonly Fields[]): readonly Variant[] {
  const told: Variant[] = [];
  const stepMs = stepOf(bins);
  if (stepMs === undefined) return told;
  const isHonoured = stepMs > 2 * MINUTE_MS;
  told.push({ question: 'bin_size', answer: isHonoured ? 'honoured' : 'ignored' });
  const newest = bins[0];
  if (newest !== undefined && decimal(newest.cache_reads) === undefined) {
    told.push({ question: 'newest_bin', answer: 'null' });
  } else if (isHonoured && newest !== undefined) {
    const within = minutesOf(minutes, newest);
    told.push({ question: 'newest_bin', answer: within.length < LONG_BIN_MS / MINUTE_MS ? 'partial' : 'whole' });
  }
  const ratios = isHonoured ? bins.flatMap((bin) => ratioOf(bin, minutesOf(minutes, bin))) : [];
  const ratio = ratios.sort((one, other) => one - other)[Math.floor(ratios.length / 2)];
  if (ratio !== undefined) told.push({ question: 'counts', answer: ratio > 2.2 ? 'per_bin' : 'per_second' });
  return told;
}

/** A bin's value divided by the mean of its minutes: five if it is their sum, one if it is their mean. */
function ratioOf(bin: Fields, minutes: readonly Fields[]): readonly number[] {
  const value = decimal(bin.cache_reads);
  const parts = minutes.flatMap(({ cache_reads }) => decimal(cache_reads) ?? []);
  const sum = parts.reduce((total, part) => total + part, 0);
  if (value === undefined || parts.length < LONG_BIN_MS / MINUTE_MS || sum === 0) return [];
  return [value / (sum / parts.length)];
}

function minutesOf(minutes: readonly Fields[], bin: Fields): readonly Fields[] {
  const start = milliseconds(bin);
  return minutes.filter((minute) => milliseconds(minute) >= start && milliseconds(minute) < start + LONG_BIN_MS);
}

function stepOf(records: readonly Fields[]): number | undefined {
  const times = records.map(milliseconds);
  const steps = times.slice(1).map((time, index) => (times[index] ?? time) - time);
  return steps.sort((one, other) => one - other)[Math.floor(steps.length / 2)];
}

/** The time of a record in milliseconds, sent in either unit. */
function milliseconds({ time }: Fields): number {
  const told = decimal(time) ?? 0;
  return told < 1e11 ? told * 1000 : told;
}

import type { Disk } from './roles.ts';
import { dailyLoad, HOUR_MS, MINUTE_MS, sawtooth, smoothNoise } from './waveforms.ts';
import type { DemoAppliance } from './world.ts';

/**
 * How many minutes of an appliance are kept. All its series follow its activity, and a request asks again for minutes that
 * the request before it asked for.
 */
const KEPT_MINUTES = 64;
const keptMinutes = new WeakMap<DemoAppliance, { readonly at: number; readonly busyness: number }[]>();

/** The activity of an appliance, 0 to 1. */
export function busyness(appliance: DemoAppliance, at: number): number {
  const minutes = keptMinutes.get(appliance) ?? [];
  const place = Math.floor(at / MINUTE_MS) % KEPT_MINUTES;
  const kept = minutes[place];
  if (kept?.at === at) return kept.busyness;
  const computed = computedBusyness(appliance, at);
  minutes[place] = { at, busyness: computed };
  keptMinutes.set(appliance, minutes);
  return computed;
}

/** The activity is the daily curve of the appliance's place, with slow and fast noise. */
function computedBusyness(appliance: DemoAppliance, at: number): number {
  const slow = smoothNoise(`${appliance.serial}/slow`, at, 40 * MINUTE_MS);
  const quick = smoothNoise(`${appliance.serial}/quick`, at, 3 * MINUTE_MS);
  return 0.03 + 0.5 * dailyLoad(at, appliance.utcOffsetHours) * (0.5 + 0.5 * slow) + 0.3 * slow * quick;
}

/** A value that follows the activity of the appliance, with its own noise; about 0 to `most`. */
export function following(name: string, most: number): (appliance: DemoAppliance, at: number) => number {
  return (appliance, at) =>
    most * busyness(appliance, at) * (0.7 + 0.5 * smoothNoise(`${appliance.serial}/${name}`, at, 4 * MINUTE_MS));
}

/** Waiting or running processes, averaged over some minutes: the longer, the smoother. */
export function loadAverage(minutes: number): (appliance: DemoAppliance, at: number) => number {
  return (appliance, at) => {
    const peak = smoothNoise(`${appliance.serial}/load`, at, minutes * 2 * MINUTE_MS);
    return appliance.cores * (0.6 * busyness(appliance, at - (minutes * MINUTE_MS) / 2) + 0.25 * peak);
  };
}

/** Percent of the cache in use; a filling cache takes nine hours from 58 to 98 percent, and then data is evicted. */
export function cachePercent(appliance: DemoAppliance, at: number): number {
  if (appliance.trait === 'filling') return 58 + 40 * sawtooth(`${appliance.serial}/fill`, at, 9 * HOUR_MS);
  return 66 + 18 * smoothNoise(`${appliance.serial}/cache`, at, 6 * HOUR_MS);
}

/** The load of one disk relative to the others. */
export const diskWeight: Readonly<Record<Disk, number>> = { cache: 1, cow: 0.5, file_iq: 0.3, os: 0.1 };

/** Total memory in KB. */
export function memoryTotal(appliance: DemoAppliance): number {
  return appliance.memoryGib * 1_048_576;
}

/** Memory in use by programs, in KB. */
export function memoryUsed(appliance: DemoAppliance, at: number): number {
  const calm = smoothNoise(`${appliance.serial}/memory`, at, 2 * HOUR_MS);
  return memoryTotal(appliance) * (0.25 + 0.2 * calm + 0.15 * busyness(appliance, at));
}

/** Memory of buffers and caches, which can be reclaimed, in KB. */
export function memoryReclaimable(appliance: DemoAppliance, at: number): number {
  return memoryTotal(appliance) * (0.2 + 0.1 * smoothNoise(`${appliance.serial}/reclaimable`, at, 3 * HOUR_MS));
}

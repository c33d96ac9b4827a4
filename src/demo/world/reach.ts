import type { Trait } from './roles.ts';
import { floorTo, HOUR_MS, MINUTE_MS } from './waveforms.ts';
import type { DemoAppliance, SimulatedFleet } from './world.ts';

/** How often a wavering appliance is unreachable, and how long it is reachable before. */
const WAVER = { everyMs: 30 * MINUTE_MS, thereMs: 25 * MINUTE_MS } as const;

/** How long before the start of the mock services an appliance that is off or silent was last in contact. */
const SILENT_MS: Partial<Record<Trait, number>> = { silent: 45_000, off: 6 * HOUR_MS };

/** Returns since when an appliance has been silent; infinite if it is not. */
export function silentSince({ startedAt }: SimulatedFleet, { trait }: DemoAppliance): number {
  const before = SILENT_MS[trait];
  return before === undefined ? Number.POSITIVE_INFINITY : startedAt - before;
}

/** When an appliance last responded to the portal: undefined while it is reachable. */
export function lostAt(world: SimulatedFleet, appliance: DemoAppliance, now: number): number | undefined {
  const since = silentSince(world, appliance);
  if (since <= now) return since;
  if (appliance.trait !== 'wavering') return undefined;
  const round = floorTo(now - world.startedAt, WAVER.everyMs) + world.startedAt;
  return now - round < WAVER.thereMs ? undefined : round + WAVER.thereMs;
}

/** The moments in a period when an appliance became unreachable for the portal. */
export function losses(world: SimulatedFleet, appliance: DemoAppliance, from: number, to: number): readonly number[] {
  if (appliance.trait !== 'wavering') return [];
  const first = Math.max(0, Math.floor((from - world.startedAt) / WAVER.everyMs));
  const last = Math.floor((to - world.startedAt) / WAVER.everyMs);
  const moments: number[] = [];
  for (let round = first; round <= last; round += 1) {
    const at = world.startedAt + round * WAVER.everyMs + WAVER.thereMs;
    if (at > from && at <= to && at >= appliance.joinedAt) moments.push(at);
  }
  return moments;
}

import type { StandIn } from '../../src/demo/stand-in.ts';
import type { Random } from '../../src/runtime/random.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { FLEET, type Told } from './told.ts';

/** What changes in the world without being wrong; how long tokens live from now on, where that is another. */
export function change(random: Random, standIn: StandIn, clock: ManualClock, told: Told): number | undefined {
  const { appliances, volumes } = standIn.fleet;
  const { serial } = appliances[Math.floor(random() * appliances.length)] ?? { serial: '' };
  const happens = (often: number) => random() < often;
  if (happens(0.004) && appliances.length < FLEET.most) standIn.addAppliance();
  if (happens(0.004) && appliances.length > FLEET.least) standIn.removeAppliance(serial);
  if (happens(0.01)) standIn.renameAppliance(serial, `edge "${random()}" \\ \n`);
  if (happens(0.01)) standIn.renameVolume(volumes[0]?.guid ?? '', `volume ${random()}`);
  if (happens(0.01)) standIn.vary({ nulls: random() / 2, shuffled: happens(0.5), newestNull: happens(0.5) });
  stepClock(random, clock, 0.01);
  if (!happens(0.01)) return undefined;
  const tokenLifetimeMs = told.tokenMs + Math.floor(random() * 1_200_000);
  standIn.vary({ tokenLifetimeMs });
  return tokenLifetimeMs;
}

/** So often somebody sets the clock of the machine, by an hour at most and either way. */
export function stepClock(random: Random, clock: ManualClock, often: number): void {
  if (random() < often) clock.step(Math.floor((random() - 0.5) * 7_200_000));
}

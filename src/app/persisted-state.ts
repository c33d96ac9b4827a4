import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { Kept } from '../contract/kept.ts';
import type { SavedState } from '../services/capabilities.ts';
import type { ConfiguredService } from '../services/services.ts';
import { StateKeeper } from '../state/keeper.ts';
import type { DailyQuota } from '../transport/rate/daily-quota.ts';
import type { Environment } from './environment.ts';

export function createStateKeeper(
  services: readonly ConfiguredService[],
  config: Config,
  { openState, clock, log }: Environment,
): StateKeeper | undefined {
  const store = config.stateFile === undefined ? undefined : openState?.(config.stateFile);
  return store && new StateKeeper(store, clock, log, ownersOf(services, config));
}

/** Returns what the services keep over a restart, and the requests that their limits have counted. */
export function keptBy(services: readonly KeepingService[]): readonly Kept[] {
  return services.flatMap(({ api, state, budget }) => [
    ...(state?.kept ?? []),
    {
      part: `budget/${api}`,
      changes: () => budget.changes(),
      all: () => budget.all(),
      restore: (shiftMs) => budget.restore(shiftMs),
    },
  ]);
}

interface KeepingService {
  readonly api: string;
  readonly state?: Pick<SavedState, 'kept'>;
  readonly budget: DailyQuota;
}

/** The owner of the state, by service; contains no secret. */
function ownersOf(services: readonly ConfiguredService[], config: Config): Readonly<Record<string, string>> {
  const owners = services.map(({ api, service, settings }) => {
    const owner = JSON.stringify(service.stateOwner(settings, config));
    return [api, createHash('sha256').update(owner).digest('hex')] as const;
  });
  return Object.fromEntries(owners);
}

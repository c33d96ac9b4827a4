import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Persisted } from '../runtime/persisted.ts';
import type { ConfiguredService } from '../services/services.ts';
import { StateKeeper } from '../state/keeper.ts';
import type { DailyQuota } from '../transport/rate/daily-quota.ts';
import type { Environment } from './environment.ts';

interface Part {
  readonly api: string;
  readonly counts?: Persisted | undefined;
  readonly lines?: Persisted | undefined;
  readonly budget?: DailyQuota;
}

export function createStateKeeper(
  asked: readonly ConfiguredService[],
  config: Config,
  { openState, clock, log }: Environment,
): StateKeeper | undefined {
  const store = config.stateFile === undefined ? undefined : openState?.(config.stateFile);
  return store && new StateKeeper(store, clock, log, ownersOf(asked, config));
}

/** The first value: what each budget has spent, and the counts of each part by its name. */
interface StateHeader extends Readonly<Record<string, unknown>> {
  readonly spent: Readonly<Record<string, ReturnType<DailyQuota['state']>>>;
}

export function combinePersisted(parts: readonly Part[], clock: Clock): Persisted {
  return {
    *state() {
      const now = clock.monotonic();
      const spent = parts.flatMap(({ api, budget }) => (budget ? [[api, budget.state(now)]] : []));
      const counts = parts.flatMap(({ api, counts }) => (counts ? [[api, ...counts.state()]] : []));
      yield { spent: Object.fromEntries(spent), ...Object.fromEntries(counts) } satisfies StateHeader;
      for (const { lines } of parts) if (lines) yield* lines.state();
    },
    *restore([first, ...values], elapsedMs) {
      const { spent, ...saved } = first as StateHeader;
      for (const { api, counts, lines, budget } of parts) {
        if (counts && saved[api] !== undefined) yield* counts.restore([saved[api]], elapsedMs);
        if (lines && values.length > 0) yield* lines.restore(values, elapsedMs);
        budget?.restore(spent[api] ?? [], elapsedMs, clock.monotonic());
      }
    },
  };
}

/** The owner of the state, by service; contains no secret. */
function ownersOf(asked: readonly ConfiguredService[], config: Config): Readonly<Record<string, string>> {
  const owners = asked.map(({ api, upstream, settings }) => {
    const owner = JSON.stringify(upstream.stateOwner(settings, config));
    return [api, createHash('sha256').update(owner).digest('hex')] as const;
  });
  return Object.fromEntries(owners);
}

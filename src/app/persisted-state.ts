import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { fields } from '../metrics/state-schema.ts';
import type { Clock } from '../runtime/clock.ts';
import type { KeptService } from '../sources/upstream.ts';
import type { ConfiguredUpstream } from '../sources/upstreams.ts';
import { type Kept, StateKeeper } from '../state/keeper.ts';
import type { Budget } from '../transport/rate/budget.ts';
import type { Environment } from './environment.ts';

export interface KeptPart {
  readonly api: string;
  readonly kept?: KeptService;
  readonly budget?: Budget;
}

/** Undefined without a state file. */
export function keeperOf({ stateFile }: Config, { openState, clock, log }: Environment): StateKeeper | undefined {
  const store = stateFile === undefined ? undefined : openState?.(stateFile);
  return store && new StateKeeper(store, clock, log);
}

export function keptOf(owners: Readonly<Record<string, string>>, parts: readonly KeptPart[], clock: Clock): Kept {
  return {
    owners,
    *values() {
      const now = clock.monotonic();
      // The first value: what each budget has spent, and the counts of each part by its name.
      const counts = parts.flatMap(({ api, kept }) => (kept?.counts ? [[api, kept.counts.state()] as const] : []));
      yield {
        spent: Object.fromEntries(parts.flatMap(({ api, budget }) => (budget ? [[api, budget.state(now)]] : []))),
        ...Object.fromEntries(counts),
      };
      for (const { kept } of parts) if (kept?.values) yield* kept.values.state();
    },
    *restore([first, ...values], elapsedMs) {
      // Everything is read before anything is adopted: one part without the others would be worse than none.
      const { spent, ...counts } = fields.read(first);
      const budgets = fields.read(spent);
      const now = clock.monotonic();
      const adoptions: (() => void)[] = [];
      for (const { api, kept, budget } of parts) {
        const saved = counts[api];
        if (kept?.counts && saved !== undefined) adoptions.push(kept.counts.restore(fields.read(saved), elapsedMs));
        if (kept?.values && values.length > 0) adoptions.push(yield* kept.values.restore(values, elapsedMs));
        if (budget) adoptions.push(budget.restore(budgets[api] ?? [], elapsedMs, now));
      }
      for (const adopt of adoptions) adopt();
    },
  };
}

/** The owner of the state, by service; contains no secret. */
export function ownersOf(asked: readonly ConfiguredUpstream[], config: Config): Readonly<Record<string, string>> {
  const owners = asked.map(({ api, upstream, settings }) => {
    const owner = JSON.stringify(upstream.owner(settings, config));
    return [api, createHash('sha256').update(owner).digest('hex')] as const;
  });
  return Object.fromEntries(owners);
}

import { createHash } from 'node:crypto';
import type { Config } from '../config/config.ts';
import { isFields } from '../metrics/family.ts';
import type { Clock } from '../runtime/clock.ts';
import type { GfaCollector } from '../sources/gfa/collector.ts';
import { gfaSection } from '../sources/gfa/configuration.ts';
import type { PortalCollector, PortalState } from '../sources/portal/collector.ts';
import { portalSection } from '../sources/portal/configuration.ts';
import type { Kept } from '../state/keeper.ts';
import { type Budget, type BudgetState, keptBudget } from '../transport/rate/budget.ts';

/** The parts of the program that have something to keep over restarts. */
export interface KeptParts {
  readonly gfa: GfaCollector | undefined;
  readonly portal: PortalCollector | undefined;
  /** By API. */
  readonly budgets: ReadonlyMap<string, Budget>;
}

/** The first value: what each API's budget had spent, and what the portal's collectors had counted. */
interface First {
  readonly spent: Readonly<Record<string, BudgetState>>;
  readonly portal?: PortalState;
}

/** What of the program is kept over restarts, as one thing; `parts` are asked for only when they are needed. */
export function keptOf(config: Config, parts: () => KeptParts, clock: Clock): Kept {
  return {
    owners: ownersOf(config),
    *values() {
      const now = clock.monotonic();
      const { gfa, portal, budgets } = parts();
      const first: First = {
        spent: Object.fromEntries([...budgets].map(([api, budget]) => [api, budget.state(now)])),
        ...(portal === undefined ? {} : { portal: portal.state() }),
      };
      yield first;
      if (gfa !== undefined) yield* gfa.ledger.state(now);
    },
    *restore([first, ...ledger], elapsedMs) {
      const { gfa, portal, budgets } = parts();
      // All of it is read before any of it is taken: one part without the others would be worse than none.
      const { spent, portal: counted } = keptFirst(first);
      const adoptCounts = counted === undefined ? undefined : portal?.restore(counted, elapsedMs);
      const adoptLedger = gfa !== undefined && ledger.length > 0 ? yield* gfa.restore(ledger, elapsedMs) : undefined;
      adoptLedger?.();
      adoptCounts?.();
      const now = clock.monotonic();
      for (const [api, budget] of budgets) budget.restore(spent[api] ?? [], elapsedMs, now);
    },
  };
}

function keptFirst(first: unknown): First {
  const { spent, portal } = isFields(first) ? first : {};
  if (!isFields(spent) || (portal !== undefined && !isFields(portal))) {
    throw new TypeError('expected what was spent and counted in what was kept');
  }
  return {
    spent: Object.fromEntries(Object.entries(spent).map(([api, budget]) => [api, keptBudget(budget)])),
    ...(portal === undefined ? {} : { portal }),
  };
}

/** Bookmarks belong to the service and the client key, a budget to the portal and the shard. No secret is in them. */
function ownersOf(config: Config): Readonly<Record<string, string>> {
  const { shard } = config;
  const [gfa, portal] = [gfaSection.of(config), portalSection.of(config)];
  const isPolling = gfa !== undefined && shard.index === 0;
  return {
    ...(isPolling ? { gfa: fingerprint(gfa.url, gfa.clientKey) } : {}),
    ...(portal === undefined ? {} : { portal: fingerprint(portal.url, String(shard.index)) }),
  };
}

function fingerprint(...parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

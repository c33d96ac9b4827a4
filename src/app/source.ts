import type { Config } from '../config/config.ts';
import { formatBound } from '../exposition/format.ts';
import type { OwnMetrics } from '../exposition/own/metrics.ts';
import type { Sink } from '../metrics/sink.ts';
import type { Api } from '../metrics/snapshot.ts';
import { Poller } from '../polling/poller.ts';
import type { FilerNames } from '../sources/filer-names.ts';
import { upstreams } from '../sources/upstreams.ts';
import type { Budget } from '../transport/rate/budget.ts';
import type { Pacer } from '../transport/rate/pacer.ts';
import type { Outside } from './environment.ts';
import type { History } from './history.ts';
import { politeClient } from './polite-client.ts';
import type { Connection, Keeping, Target, Upstream } from './upstream.ts';

/** A service that this instance polls, and what it is told. */
export interface AskedUpstream {
  readonly api: Api;
  readonly upstream: Upstream;
  readonly settings: unknown;
}

/** The services that are configured, but those that another shard asks. */
export function askedUpstreams(config: Config): readonly AskedUpstream[] {
  return upstreams.flatMap((upstream) => {
    const settings = upstream.section.of(config);
    if (settings === undefined || (upstream.isWhole && config.shard.index !== 0)) return [];
    return [{ api: upstream.section.api, upstream, settings }];
  });
}

/** One service with everything that polls it. */
export interface Source extends Connection {
  readonly api: Api;
  readonly title: string;
  readonly target: Target;
  readonly pacer: Pacer;
  readonly budget: Budget;
  readonly poller: Poller;
  /** Whether a request was refused or has failed, of whatever kind. */
  readonly hasHadTrouble: () => boolean;
}

/** What every service is built from. */
export interface SourceParts {
  readonly config: Config;
  readonly own: OwnMetrics;
  readonly sink: Sink;
  readonly outside: Outside;
  readonly names: FilerNames;
  readonly keeping: Keeping | undefined;
  readonly history: History | undefined;
}

/** A client with a pace of its own, and a poller: the trouble of one service never touches another's. */
export function sourceOf({ api, upstream, settings }: AskedUpstream, parts: SourceParts): Source {
  const { config, own, sink, outside } = parts;
  const { clock, random, log, heapBytes = Number.POSITIVE_INFINITY } = outside;
  const target = upstream.target(settings, config);
  const { client, pacer, budget, hasHadTrouble, close } = politeClient(
    { ...target, api, allowed: upstream.allowed },
    config,
    own,
    outside,
  );
  const connected = upstream.connect(settings, {
    ...parts,
    wantedSince: parts.history?.wantedSince,
    client,
    clock,
    random,
    log,
    heapBytes,
    boundText: formatBound,
  });
  const connection = parts.history?.over(connected) ?? connected;
  const { collector, appliances, onTasks } = connection;
  const poller = new Poller(
    {
      ...{ collector, appliances, sink, workers: target.concurrency, staleAfter: config.staleAfter },
      limits: { allowedPerSecond: () => pacer.sustainedPerSecond, isHeld: () => pacer.heldUntil !== undefined },
      ...(onTasks && { onTasks }),
    },
    { clock, random, log },
  );
  return {
    ...connection,
    ...{ api, title: upstream.title, target, pacer, budget, poller, hasHadTrouble },
    release: async (signal) => {
      await connection.release(signal);
      await close();
    },
  };
}

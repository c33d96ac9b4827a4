import type { Config } from '../config/config.ts';
import { formatBound } from '../exposition/format.ts';
import type { OwnMetrics } from '../exposition/own/metrics.ts';
import type { Api } from '../metrics/snapshot.ts';
import { Agenda } from '../polling/agenda.ts';
import { ApiHealth } from '../polling/health.ts';
import { Watch } from '../polling/observer.ts';
import { Runner } from '../polling/runner.ts';
import type { SnapshotSink } from '../polling/sink.ts';
import type { FilerNames } from '../sources/filer-names.ts';
import { upstreams } from '../sources/upstreams.ts';
import type { Budget } from '../transport/rate/budget.ts';
import type { Pacer } from '../transport/rate/pacer.ts';
import type { Outside } from './environment.ts';
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
  readonly watch: Watch;
  readonly runner: Runner;
}

/** What every service is built from. */
export interface SourceParts {
  readonly config: Config;
  readonly own: OwnMetrics;
  readonly sink: SnapshotSink;
  readonly outside: Outside;
  readonly names: FilerNames;
  readonly keeping: Keeping | undefined;
}

/** Polls of one appliance under way at most. */
const PER_APPLIANCE = 2;

/** A client with a pace of its own, a watch, and a runner: the trouble of one service never touches another's. */
export function sourceOf({ api, upstream, settings }: AskedUpstream, parts: SourceParts): Source {
  const { config, own, sink, outside } = parts;
  const { clock, random, log, heapBytes = Number.POSITIVE_INFINITY } = outside;
  const target = upstream.target(settings, config);
  const { client, pacer, budget, close } = politeClient(
    { ...target, api, allowed: upstream.allowed },
    config,
    own,
    outside,
  );
  const connection = upstream.connect(settings, {
    ...parts,
    client,
    clock,
    random,
    log,
    heapBytes,
    boundText: formatBound,
  });
  const { collector, applianceUp, onTasks } = connection;
  const watch = new Watch({ api, sink, log, clock, upName: applianceUp });
  const runner = new Runner({
    collector,
    agenda: new Agenda({ perAppliance: PER_APPLIANCE, suspects: Math.max(1, Math.floor(target.concurrency / 4)) }),
    health: new ApiHealth(connection.health, random),
    events: {
      ended: (outcome, turn) => watch.ended(outcome, turn),
      changed: (tasks, gone) => {
        watch.changed(tasks, gone);
        onTasks?.(tasks);
      },
      defect: (task, error) => watch.defect(task, error),
    },
    clock,
    random,
    workers: target.concurrency,
    ...(sink.write && { write: sink.write }),
  });
  return {
    ...connection,
    ...{ api, title: upstream.title, target, pacer, budget, watch, runner },
    release: async (signal) => {
      await connection.release(signal);
      await close();
    },
  };
}

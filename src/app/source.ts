import type { Config } from '../config/config.ts';
import type { OwnMetrics } from '../exposition/own/metrics.ts';
import type { RemoteWrite } from '../history/remote-write.ts';
import type { PollSink } from '../metrics/sink.ts';
import { Poller } from '../polling/poller.ts';
import { FilerNames } from '../sources/filer-names.ts';
import type { Keeping } from '../sources/upstream.ts';
import type { AskedUpstream } from './asked.ts';
import type { Environment } from './environment.ts';
import { politeClient } from './polite-client.ts';

/** A polled service. */
export type Source = ReturnType<typeof sourceOf>;

export interface SourceParts {
  readonly config: Config;
  readonly own: OwnMetrics;
  readonly sink: PollSink;
  readonly environment: Environment;
  readonly keeping: Keeping | undefined;
  readonly history: RemoteWrite | undefined;
}

export function sourcesOf(asked: readonly AskedUpstream[], parts: SourceParts): readonly Source[] {
  const { config, environment } = parts;
  const names = new FilerNames(
    config.filerAliases,
    asked.some(({ upstream }) => upstream.namesFilers),
    (name, ids) => environment.log.warn({ name, ids }, 'filers share a name; a short id is added to the label filer'),
  );
  return asked.map((one) => sourceOf(one, names, parts));
}

function sourceOf({ api, upstream, settings }: AskedUpstream, names: FilerNames, parts: SourceParts) {
  const { config, own, sink, environment } = parts;
  const { clock, random, log, heapBytes = Number.POSITIVE_INFINITY } = environment;
  const target = upstream.target(settings, config);
  const { client, pacer, budget, hasHadTrouble, close } = politeClient(
    { ...target, api, allowed: upstream.allowed ?? [] },
    config,
    own,
    environment,
  );
  const connection = upstream.connect(settings, {
    ...{ config, names, keeping: parts.keeping },
    wantedSince: (task) => parts.history?.wantedSince(task),
    client,
    clock,
    random,
    log,
    heapBytes,
  });
  const { collector, appliances, onTasks } = connection;
  const poller = new Poller(
    {
      ...{ collector, appliances, sink, workers: target.concurrency, intervalMs: connection.intervalMs },
      staleAfter: config.staleAfter,
      forgetAfterMs: config.forgetAfterMs,
      allowedPerSecond: () => pacer.sustainedPerSecond,
      isHeld: () => pacer.heldUntil !== undefined,
      ...(onTasks && { onTasks }),
    },
    { clock, random, log },
  );
  return {
    ...connection,
    ...{ api, title: upstream.title, target, pacer, budget, poller, hasHadTrouble },
    release: async (signal: AbortSignal) => {
      await connection.release?.(signal);
      await close();
    },
  };
}

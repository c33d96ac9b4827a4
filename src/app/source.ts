import type { Config } from '../config/config.ts';
import type { OwnMetrics } from '../exposition/own/metrics.ts';
import type { RemoteWrite } from '../history/remote-write.ts';
import type { PollSink } from '../metrics/sink.ts';
import { Poller } from '../polling/poller.ts';
import { FilerNames } from '../sources/filer-names.ts';
import type { ConfiguredUpstream } from '../sources/upstreams.ts';
import type { StateKeeper } from '../state/keeper.ts';
import type { Environment } from './environment.ts';
import { connectUpstream } from './polite-client.ts';

export type Source = ReturnType<typeof sourceOf>;

interface SourceParts {
  readonly config: Config;
  readonly own: OwnMetrics;
  readonly sink: PollSink;
  readonly environment: Environment;
  readonly keeper: StateKeeper | undefined;
  readonly history: RemoteWrite | undefined;
}

export function sourcesOf(asked: readonly ConfiguredUpstream[], parts: SourceParts): readonly Source[] {
  const { config, environment } = parts;
  const names = new FilerNames(
    config.filerAliases,
    asked.some(({ upstream }) => upstream.namesFilers),
    (name, ids) => environment.log.warn({ name, ids }, 'filers share a name; a short id is added to the label filer'),
  );
  return asked.map((one) => sourceOf(one, names, parts));
}

function sourceOf(asked: ConfiguredUpstream, names: FilerNames, parts: SourceParts) {
  const { config, own, sink, environment, keeper, history } = parts;
  const { api, upstream } = asked;
  const service = connectUpstream(asked, {
    ...{ config, environment, names, keeper },
    observer: own.requestsOf(api),
    ...(history && { wantedSince: (task: string, now: number) => history.wantedSince(task, now) }),
  });
  const { collector, appliances, onTasks, intervalMs, target, pacer, notes } = service;
  const poller = new Poller(
    {
      ...{ collector, appliances, sink, workers: target.concurrency, intervalMs, notes },
      staleAfter: config.staleAfter,
      forgetAfterMs: config.forgetAfterMs,
      allowedPerSecond: () => pacer.sustainedPerSecond,
      isHeld: () => pacer.heldUntil !== undefined,
      ...(onTasks && { onTasks }),
    },
    environment,
  );
  return { ...service, api, title: upstream.title, poller };
}

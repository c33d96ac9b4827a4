import { RemoteWrite } from '../../../src/history/remote-write.ts';
import { Secret } from '../../../src/runtime/secret.ts';
import { GfaClient } from '../../../src/services/gfa/client.ts';
import { GfaCollector } from '../../../src/services/gfa/collector.ts';
import { GROUPS } from '../../../src/services/gfa/families.ts';
import { PortalClient } from '../../../src/services/portal/client.ts';
import { PortalCollector } from '../../../src/services/portal/collector.ts';
import { TokenSource } from '../../../src/services/portal/token.ts';
import { StateKeeper } from '../../../src/state/keeper.ts';
import type { Receiver } from '../../harness/receiver.ts';
import { ledgerSettings } from '../../support/gfa-answers.ts';
import type { MemoryStore } from '../../support/memory-store.ts';
import { clientOf, noLog } from '../../support/mock-api.ts';
import { portalOptions, userKey } from '../../support/portal-parts.ts';
import { CATCH_UP, DAY, MINUTE } from './plans.ts';
import { SERIAL, type WrongServices } from './services.ts';

/** The parts of one process. */
export interface Process {
  readonly gfa: GfaCollector;
  readonly portal: PortalCollector;
  readonly remote: RemoteWrite;
  readonly keeper: StateKeeper;
}

export function startProcess({ clock, dispatcher }: WrongServices, file: MemoryStore, send: Receiver['send']): Process {
  const keeper = new StateKeeper(file, clock, noLog);
  const gfaClient = clientOf('http://api.test/gfa', dispatcher, clock);
  const options = { token: Secret.of('t'), clientKey: 'k', clientKeyHeader: 'x-key', groups: GROUPS };
  const gfa = new GfaCollector({
    client: new GfaClient(gfaClient, options, { clock, random: () => 0 }),
    ledger: ledgerSettings({ serviceClock: gfaClient.serviceClock }),
    intervalMs: MINUTE * 1000,
    keeper,
    clock,
    log: noLog,
  });
  const portalClient = clientOf('http://api.test/portal', dispatcher, clock);
  const tokens = new TokenSource(portalClient, userKey, clock);
  const every = (name: string) => ({ name, intervalMs: MINUTE * 1000 });
  const period = { lookbackMs: 15 * MINUTE * 1000, forgetAfterMs: DAY * 1000 };
  const portal = new PortalCollector(
    new PortalClient(portalClient, tokens, { clock, random: () => 0 }),
    portalOptions({
      series: [every('cpu_utilization')],
      collectors: [every('notifications'), every('jobs')],
      serials: [SERIAL],
    }),
    { clock, log: noLog },
  );
  const remote: RemoteWrite = new RemoteWrite(
    { ...period, labels: {}, catchUpMs: CATCH_UP * 1000, intervalMs: MINUTE * 1000, binMs: MINUTE * 1000 },
    send,
    { clock, random: () => 0, log: noLog, saveCursors: () => keeper.saveUnsynced(remote.cursors) },
  );
  return { gfa, portal, remote, keeper };
}

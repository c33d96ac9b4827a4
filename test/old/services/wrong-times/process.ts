import { createStateKeeper, keptBy } from '../../../src/app/persisted-state.ts';
import { createRemoteWrite } from '../../../src/app/remote-write.ts';
import { connectService } from '../../../src/app/service-client.ts';
import { FilerNames } from '../../../src/services/filer-names.ts';
import { polledServices } from '../../../src/services/services.ts';
import { Network } from '../../harness/network.ts';
import { type Receiver, receiverServer } from '../../harness/receiver.ts';
import { loadConfig } from '../../support/load-config.ts';
import type { MemoryStore } from '../../support/memory-store.ts';
import { noLog } from '../../support/mock-api.ts';
import { SERIAL, type WrongServices } from './services.ts';

const SERVICES = 'http://api.test';
const RECEIVER = 'http://receiver.test';

/** Polls are begun by the test, so the limits may not delay them. */
const config = loadConfig({
  environment: {
    GFA_URL: `${SERVICES}/gfa/v1`,
    GFA_TOKEN: 'the-gfa-token',
    GFA_INTERVAL: '1m',
    PORTAL_URL: `${SERVICES}/portal`,
    PORTAL_USER_KEY: 'the-user-key',
    PORTAL_INTERVAL: '1m',
    PORTAL_RATE_LIMIT: '30000/30s',
    PORTAL_SERIES: 'cpu_utilization',
    PORTAL_COLLECTORS: 'telemetry,notifications=1m,jobs=1m',
    PORTAL_SERIALS: SERIAL,
    REMOTE_WRITE_URL: `${RECEIVER}/write`,
    STATE_FILE: '/state',
    ALLOW_INSECURE_UPSTREAM: 'true',
  },
});

export type Process = ReturnType<typeof startProcess>;

/** The services, the history and the state of one process, as the program builds them. */
export function startProcess({ clock, serve }: WrongServices, file: MemoryStore, receiver: Receiver) {
  const network = new Network();
  network.listens(SERVICES, serve);
  network.listens(RECEIVER, receiverServer(receiver.send));
  const environment = {
    clock,
    random: () => 0,
    log: noLog,
    version: '0',
    revision: 'test',
    nodeVersion: 'v0',
    connect: () => network.connect(),
    openState: () => file,
  };
  const services = polledServices(config);
  const keeper = createStateKeeper(services, config, environment);
  const remote = createRemoteWrite(config, services, environment, keeper);
  const names = new FilerNames(config.filerAliases);
  const sources = services.map((configured) => ({
    ...connectService(configured, { config, environment, names, keeper, observer: {} }),
    api: configured.api,
  }));
  const [gfa, portal] = sources;
  if (keeper === undefined || remote === undefined || gfa === undefined || portal === undefined)
    throw new Error('the variables name both services, a receiver and a state file');
  return { gfa, portal, remote, keeper, kept: [...keptBy(sources), remote.cursors] };
}

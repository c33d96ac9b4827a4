/**
 * A stand-in for both upstream services on one port of this machine. All it says is a function of the seed, the clock
 * and what was asked of it before, so two of them with one seed and one clock say the same.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import { credentialsOf, type DemoCredentials } from './credentials.ts';
import type { DemoFault } from './faults.ts';
import type { SeenRequest } from './seen-requests.ts';
import { Service } from './service.ts';
import { plausible, type Variations } from './variations.ts';
import { confidentialTexts } from './world/confidential.ts';
import { type FleetAppliance, type FleetView, fleetAppliance, fleetView } from './world/fleet.ts';
import { World } from './world/world.ts';

export type { DemoCredentials } from './credentials.ts';
export type { DemoFault } from './faults.ts';
export type { SeenRequest } from './seen-requests.ts';
export type { DemoRateLimit, Variations } from './variations.ts';
export type { FleetAppliance, FleetView, FleetVolume } from './world/fleet.ts';

/** What a stand-in is started with; everything but the clock has a default. */
export interface StandInOptions {
  /** Every value and every event depends on `clock.now()` and the seed only. */
  readonly clock: Clock;
  /** 1 by default. */
  readonly seed?: number;
  /** How many appliances; 12 by default. */
  readonly appliances?: number;
  /** How many volumes; 5 by default. */
  readonly volumes?: number;
  /** Any free one by default; always bound to 127.0.0.1. */
  readonly port?: number;
  readonly variations?: Partial<Variations>;
}

/** Both services, running. */
export interface StandIn {
  /** The base address of the file acceleration telemetry service, which ends in `/gfa/v1`. */
  readonly gfaUrl: string;
  /** The base address of the portal, which ends in `/portal`. */
  readonly portalUrl: string;
  readonly credentials: DemoCredentials;
  /** Every secret and every word about a person that the portal tells: none may ever come out of an exporter. */
  readonly confidential: readonly string[];
  /** What was asked, oldest first; the newest 10,000. */
  readonly requests: readonly SeenRequest[];
  /** Who and what there is at the moment. */
  readonly fleet: FleetView;
  /** Switches variations; takes effect with the next request. */
  vary(change: Partial<Variations>): void;
  /** Adds a fault; what it returns lifts it. */
  fail(fault: DemoFault): () => void;
  /** One more appliance joins now, without a history. */
  addAppliance(): FleetAppliance;
  /** An appliance goes now; its serial is unknown from here on, and only its past events remain. */
  removeAppliance(serial: string): void;
  renameAppliance(serial: string, title: string): void;
  renameVolume(guid: string, title: string): void;
  /** Serves one request as the listener does, for a request without a connection. */
  readonly serve: RequestListener;
  /** Ends at once, open connections included. */
  close(): Promise<void>;
}

/** Starts a stand-in; resolves when it listens. */
export async function startStandIn(options: StandInOptions): Promise<StandIn> {
  const { clock, seed = 1, appliances = 12, volumes = 5, port = 0 } = options;
  const world = new World(seed, { appliances, volumes }, clock.now());
  const credentials = credentialsOf(seed);
  const service = new Service(clock, world, credentials, { ...plausible, ...options.variations });
  const serve: RequestListener = (request, response) => void service.serve(request, response);
  const server = createServer(serve);
  // Longer than clients keep an idle connection, so that none is closed under a request just sent.
  server.keepAliveTimeout = 120_000;
  const origin = `http://127.0.0.1:${await listen(server, port)}`;
  return {
    gfaUrl: `${origin}/gfa/v1`,
    portalUrl: `${origin}/portal`,
    credentials,
    confidential: confidentialTexts(seed),
    get requests() {
      return service.seen.all;
    },
    get fleet() {
      return fleetView(world);
    },
    vary: (change) => {
      service.variations = { ...service.variations, ...change };
    },
    fail: (fault) => service.faults.add(fault),
    addAppliance: () => fleetAppliance(world, world.addAppliance(clock.now())),
    removeAppliance: (serial) => world.removeAppliance(serial, clock.now()),
    renameAppliance: (serial, title) => world.renameAppliance(serial, title),
    renameVolume: (guid, title) => world.renameVolume(guid, title),
    serve,
    close: () => close(server),
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject);
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

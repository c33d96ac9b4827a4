/**
 * Mock services for both services on one local port. Their responses depend only on the seed, the clock and the earlier
 * requests, so two instances with the same seed, clock and requests give the same responses.
 */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import { credentialsOf, type DemoCredentials } from './credentials.ts';
import type { SimulatedFailure } from './faults.ts';
import type { SeenRequest } from './seen-requests.ts';
import { MockService } from './service.ts';
import { defaultVariations, type Variations } from './variations.ts';
import { confidentialTexts } from './world/confidential.ts';
import { type FleetAppliance, type FleetView, fleetAppliance, fleetView } from './world/fleet.ts';
import { SimulatedFleet } from './world/world.ts';

export type { DemoCredentials } from './credentials.ts';
export type { SimulatedFailure } from './faults.ts';
export type { SeenRequest } from './seen-requests.ts';
export type { DemoRateLimit, Variations } from './variations.ts';
export type { FleetAppliance, FleetView, FleetVolume } from './world/fleet.ts';

/** The options of the mock services; all but the clock have a default. */
export interface MockServicesOptions {
  /** Every value and every event depends on `clock.now()` and the seed only. */
  readonly clock: Clock;
  /** 1 by default. */
  readonly seed?: number;
  /** The number of appliances; 12 by default. */
  readonly appliances?: number;
  /** The number of volumes; 5 by default. */
  readonly volumes?: number;
  /** By default any free port; always bound to 127.0.0.1. */
  readonly port?: number;
  readonly variations?: Partial<Variations>;
  /** True for a fleet without simulated failures of its own. */
  readonly isCalm?: boolean;
}

/** Both services, running. */
export interface MockServices {
  /** The base address of the file acceleration telemetry service, which ends in `/gfa/v1`. */
  readonly gfaUrl: string;
  /** The base address of the portal, which ends in `/portal`. */
  readonly portalUrl: string;
  readonly credentials: DemoCredentials;
  /** Every secret and every text about a person in the responses of the portal; the exporter must never show one. */
  readonly confidential: readonly string[];
  /** The newest 10,000 requests, oldest first. */
  readonly requests: readonly SeenRequest[];
  /**
   * The number of token families of the portal that are alive. A family is the token of one sign-in and those that
   * refreshing makes of it.
   */
  readonly tokenFamilies: number;
  /** The appliances and volumes that exist now. */
  readonly fleet: FleetView;
  /** Changes variations, from the next request on. */
  vary(change: Partial<Variations>): void;
  /** Adds a fault, and returns the function that removes it. */
  fail(fault: SimulatedFailure): () => void;
  /** Adds an appliance now, without a history. */
  addAppliance(): FleetAppliance;
  /** Removes an appliance now; its serial is unknown from now on, and only its past events remain. */
  removeAppliance(serial: string): void;
  /** Switches an appliance off as if hours before the start: the portal then has no records of it. */
  switchOff(serial: string): void;
  renameAppliance(serial: string, title: string): void;
  renameVolume(guid: string, title: string): void;
  /** Serves one request as the listener does, for a request without a connection. */
  readonly serve: RequestListener;
  /** Stops at once, and closes open connections. */
  close(): Promise<void>;
}

/** Starts mock services; resolves when it listens. */
export async function startMockServices(options: MockServicesOptions): Promise<MockServices> {
  const { clock, seed = 1, appliances = 12, volumes = 5, port = 0, isCalm } = options;
  const world = new SimulatedFleet(seed, { appliances, volumes }, clock.now(), isCalm);
  const credentials = credentialsOf(seed);
  const service = new MockService(clock, world, credentials, { ...defaultVariations, ...options.variations });
  const serve: RequestListener = (request, response) => void service.serve(request, response);
  const server = createServer(serve);
  // Longer than clients keep an idle connection, so that none is closed while a request is on its way.
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
    get tokenFamilies() {
      return service.tokenFamilies;
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
    switchOff: (serial) => world.switchOff(serial),
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

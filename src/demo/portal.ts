import { cloudCredentials, jobs, notifications, pageOf } from './activity.ts';
import { type DemoRequest, type DemoResponse, errorResponse, ok } from './exchange.ts';
import { type Appliance, type Fleet, lastContact, type Volume } from './fleet.ts';
import { type AccountLimits, RequestLimits } from './limits.ts';
import accountJson from './responses/account.json' with { type: 'json' };
import fleetJson from './responses/fleet.json' with { type: 'json' };
import { connections, volumeTelemetry } from './snapshots.ts';
import { applianceTelemetry } from './telemetry.ts';
import { type SignIn, Tokens } from './tokens.ts';
import { DAY_MS, draw, floorTo, HOUR_MS, MINUTE_MS, rfc3339 } from './values.ts';

export interface PortalOptions {
  readonly limits: AccountLimits;
  readonly tokenLifetimeMs: number;
  /** The forms in which clients may sign in. */
  readonly signIns: readonly SignIn[];
  /** Whether some jobs fail or do not end. */
  readonly jobsFail: boolean;
}

const NOTIFICATIONS_MS = 15 * MINUTE_MS;

const fixedResponses: ReadonlyMap<string, unknown> = new Map(Object.entries(accountJson));

/** The portal: first its limits, then the token, then the operation. */
export class Portal {
  readonly tokens = new Tokens();
  readonly #fleet: Fleet;
  readonly #limits = new RequestLimits();

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** `now` is by the clock of the service, `monotonic` by one that nobody sets. */
  respond(request: DemoRequest, now: number, monotonic: number, options: PortalOptions): DemoResponse {
    const rejection = this.#limits.rejection(options.limits, now, monotonic);
    if (rejection !== undefined) return rejection;
    const { pathname, searchParams } = new URL(request.path, 'http://portal.test');
    const operation = `${request.method} ${pathname}`;
    if (operation === 'POST /auth/token') return this.tokens.signIn(request, now, options);
    if (operation === 'POST /auth/token/refresh') return this.tokens.refresh(request, now, options);
    if (pathname !== '/health' && !this.tokens.accepts(request, now)) return errorResponse('portal', 401);
    if (operation === 'DELETE /auth/token') return this.tokens.revoke(request);
    if (request.method === 'POST') return this.#telemetry(pathname, request.body, now);
    if (request.method !== 'GET') return errorResponse('portal', 405);
    return this.#list(pathname, searchParams, now, options);
  }

  #telemetry(path: string, body: string, now: number): DemoResponse {
    const [, kind, id = '', operation = ''] = /^\/telemetry\/(appliances|volumes)\/([^/]+)\/(\w+)$/.exec(path) ?? [];
    if (kind === undefined) return errorResponse('portal', 405);
    if (kind === 'volumes') {
      const volume = this.#fleet.volumes.find(({ portalId }) => portalId === id);
      if (volume === undefined) return errorResponse('portal', 404, 'Unknown volume');
      return volumeTelemetry(this.#fleet, operation, volume, body, now);
    }
    const appliance = this.#fleet.appliances.find(({ serial }) => serial === id.toLowerCase());
    if (appliance === undefined) return errorResponse('portal', 404, 'Unknown serial number');
    return applianceTelemetry(operation, appliance, body, now);
  }

  #list(path: string, query: URLSearchParams, now: number, options: PortalOptions): DemoResponse {
    const fixed = fixedResponses.get(path);
    if (fixed !== undefined) return ok(withTimes(fixed, this.#fleet.startedAt, now));
    switch (path) {
      case '/serials':
        return ok({ items: serials(this.#fleet, query, now) });
      case '/edges':
        return ok({
          items: edgesOf(this.#fleet).map((appliance) => edge(appliance, appliance.build, now)),
        });
      case '/fiq_appliances':
        return ok({ items: fileIntelligence(this.#fleet) });
      case '/ai_activate/inventories':
        return ok({ items: indexing(this.#fleet, ({ inventory }) => inventory) });
      case '/ai_activate/indexes':
        return ok({ items: indexing(this.#fleet, ({ index }) => index) });
      case '/volume_connections':
        return connections(this.#fleet, now);
      case '/jobs':
        return ok({ items: jobs(now, options.jobsFail) });
      case '/cloud-credentials':
        return pageOf(cloudCredentials(this.#fleet), query);
      case '/notifications':
        return pageOf(this.#notifications(query.get('start_date'), now), query);
    }
    const [, edgeId] = /^\/edges\/([^/]+)$/.exec(path) ?? [];
    const found = edgesOf(this.#fleet).find((appliance) => appliance.edgeId === edgeId);
    return found === undefined ? errorResponse('portal', 404) : ok(edgeDetail(this.#fleet, found, now));
  }

  /** Oldest first; without a start those of the last 15 minutes. */
  #notifications(start: string | null, now: number): readonly object[] {
    const from = start === null ? now - NOTIFICATIONS_MS : Date.parse(start);
    // A notification of the same moment belongs to the range.
    return notifications(this.#fleet, from - 1, now);
  }
}

function edgesOf(fleet: Fleet): readonly Appliance[] {
  return fleet.appliances.filter(({ kind }) => kind === 'edge');
}

/** The appliances, and two devices without telemetry: a console, and an edge that is not in use. */
function serials(fleet: Fleet, query: URLSearchParams, now: number): readonly object[] {
  const all = [
    ...fleet.appliances.map((appliance) => {
      const phaseMs = draw(appliance.serial, 'backup') * HOUR_MS;
      return {
        id: appliance.serial,
        type: appliance.kind,
        in_use: true,
        description: appliance.name,
        build: appliance.build,
        available_build: appliance.availableBuild,
        last_config_backup_date: rfc3339(floorTo(now - phaseMs, DAY_MS) + phaseMs),
      };
    }),
    ...fleetJson.withoutTelemetry,
  ];
  const [type, inUse] = [query.get('type'), query.get('in_use')];
  return all.filter(
    (item) => (type ?? item.type) === item.type && (inUse ?? String(item.in_use)) === String(item.in_use),
  );
}

function edge(appliance: Appliance, build: unknown, now: number) {
  const hasContact = lastContact(appliance) > now;
  return {
    id: appliance.edgeId,
    description: appliance.name,
    serial: appliance.serial,
    build,
    services: { s3_edge: false, file_iq: appliance.disks.includes('file_iq') },
    synced: hasContact,
    is_reachable: hasContact,
    last_seen_at: rfc3339(Math.min(floorTo(now, MINUTE_MS), lastContact(appliance))),
  };
}

/** `build` is an object here and a text in the list, as in the real service. */
function edgeDetail(fleet: Fleet, appliance: Appliance, now: number) {
  const { build, availableBuild, volumes, cores, memoryGib, name } = appliance;
  const owned = volumes.filter((volume) => fleet.ownerOf(volume) === appliance).length;
  return {
    ...edge(appliance, { current: build, available: availableBuild, platform: 'vmware' }, now),
    owned_volumes: owned,
    remotely_connected_volumes: volumes.length - owned,
    machine: { ...fleetJson.machine, cpu: `${cores} cores`, ram: `${memoryGib} GB` },
    location: name.replace(/^edge-/, ''),
  };
}

/** The volumes that have a status of one kind: that of the inventory, or that of the content index. */
function indexing(fleet: Fleet, statusOf: (indexing: Volume['indexing']) => string | null): readonly object[] {
  return fleet.volumes.flatMap(({ guid, name, cloud, indexing: own }) => {
    const status = statusOf(own);
    if (status === null) return [];
    const { provider, region } = cloud;
    return [{ volume_guid: guid, volume_name: name, provider, region, status, file_count: own.files }];
  });
}

/** The first file-intelligence appliance serves all edges. */
function fileIntelligence(fleet: Fleet): readonly object[] {
  const common = (appliance: Appliance) => ({
    serial_number: appliance.serial,
    id: appliance.edgeId,
    description: appliance.name,
    build: appliance.build,
  });
  const served = edgesOf(fleet).filter(({ disks }) => disks.includes('file_iq'));
  return fleet.appliances
    .filter(({ kind }) => kind === 'file_iq')
    .map((appliance, index) => ({
      ...common(appliance),
      enabled: true,
      connections: { edges: index === 0 ? served.map((one) => ({ ...common(one), fiq_service_enabled: true })) : [] },
    }));
}

/**
 * A response with times in the place of `$ago 2h` and `$in 30d`. What was used some time ago is used again and again, so
 * that is counted back from now; an end comes nearer, so that is counted from the start of the demo.
 */
function withTimes(value: unknown, startedAt: number, now: number): unknown {
  if (Array.isArray(value)) return value.map((item) => withTimes(item, startedAt, now));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withTimes(field, startedAt, now)]));
  }
  const [, direction, count, unit = ''] = /^\$(ago|in) (\d+)([mhd])$/.exec(String(value)) ?? [];
  if (direction === undefined) return value;
  const ms = Number(count) * ({ m: MINUTE_MS, h: HOUR_MS, d: DAY_MS }[unit] ?? 0);
  return rfc3339(direction === 'ago' ? floorTo(now, MINUTE_MS) - ms : startedAt + ms);
}

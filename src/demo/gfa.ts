import { type EventGroup, eventsBetween } from './events.ts';
import { type DemoRequest, type DemoResponse, errorResponse, ok } from './exchange.ts';
import { type Appliance, type Fleet, lastContact, type Volume } from './fleet.ts';
import { credentials } from './tokens.ts';
import { draw, floorTo, HOUR_MS, MINUTE_MS, noise, rfc3339, sawtooth } from './values.ts';

interface GfaOptions {
  /** The header that names a client within the token. */
  readonly clientKeyHeader: string;
  /** How far back the first response to a new client key reaches. */
  readonly historyMs: number;
}

/** How often the service updates its records of filers and volumes. */
const REFRESH_MS = 30_000;

/** The file acceleration service: `GET /data`. */
export class Gfa {
  readonly #fleet: Fleet;
  /** Up to when a client has received the events of a group, by client key and group. */
  readonly #bookmarks = new Map<string, number>();
  /** The time of the newest event of each group. */
  readonly #newest: Record<EventGroup, number> = { locks: 0, propagation: 0 };

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  respond(request: DemoRequest, now: number, options: GfaOptions): DemoResponse {
    const { pathname, searchParams } = new URL(request.path, 'http://gfa.test');
    if (pathname !== '/data') return errorResponse('gfa', 404);
    if (request.method !== 'GET') return errorResponse('gfa', 405);
    if (request.headers.authorization !== credentials.gfaToken) return errorResponse('gfa', 401);
    const client = request.headers[options.clientKeyHeader.toLowerCase()] ?? 'swagger client';
    const updatedAt = floorTo(now, REFRESH_MS);
    const isWanted = (name: string) => searchParams.get(name) !== 'false';
    // First, because it also finds the newest events for `info`.
    const locks = isWanted('lock_metrics') ? this.#newEvents('locks', client, now, options) : [];
    const propagation = isWanted('propagation_metrics') ? this.#newEvents('propagation', client, now, options) : [];
    return ok({
      version: 1,
      flags: {},
      info: {
        account: this.#fleet.account,
        last_info: rfc3339(updatedAt),
        last_lock_event: rfc3339(this.#newest.locks),
        last_propagation: rfc3339(this.#newest.propagation),
        request_time: rfc3339(now),
        volumes: this.#fleet.volumes.map(({ guid }) => guid),
      },
      metrics: [
        {
          volumes: isWanted('volume_metrics') ? volumeRecords(this.#fleet, updatedAt) : [],
          filers: isWanted('filer_metrics') ? filerRecords(this.#fleet, updatedAt) : [],
          propagation,
          locks,
        },
      ],
    });
  }

  /** The events since the bookmark of a client, which moves to `now`. */
  #newEvents(group: EventGroup, client: string, now: number, { historyMs }: GfaOptions) {
    const key = `${client}/${group}`;
    const from = this.#bookmarks.get(key) ?? now - historyMs;
    this.#bookmarks.set(key, now);
    const events = eventsBetween(this.#fleet, group, from, now);
    for (const { at } of events) this.#newest[group] = Math.max(this.#newest[group], at);
    const type = group === 'locks' ? 'lock' : 'propagation';
    return events.map(({ appliance, volume, at, fields }) => ({
      ...head(type, at),
      ...applianceNames(appliance),
      ...volumeNames(volume),
      ...fields,
    }));
  }
}

function volumeRecords(fleet: Fleet, at: number) {
  const common = head('volume', at);
  return fleet.volumes.map((volume) => ({
    ...common,
    ...volumeNames(volume),
    mode: volume.mode,
    profile: volume.profile,
    time_to_protect: Math.round((volume.isSlow ? 14_400 : 600) * (1 + noise(`${volume.guid}/protect`, at, HOUR_MS))),
  }));
}

/** For each appliance one record about itself, and one for each of its volumes. */
function filerRecords(fleet: Fleet, at: number) {
  const common = head('filer', at);
  return fleet.appliances.flatMap((appliance) => {
    const contactSeconds = secondsSinceContact(appliance, at);
    const own = { ...common, ...applianceNames(appliance), last_checkin: contactSeconds };
    const onVolumes = appliance.volumes.map((volume) => {
      const name = `${appliance.serial}/${volume.guid}`;
      const periodMs = (5 + 35 * draw(name, 'period')) * MINUTE_MS;
      const quietSeconds = Math.round((periodMs / 1000) * sawtooth(`${name}/busy`, at, periodMs));
      const unprotected = unprotectedSeconds(appliance, volume, at);
      return {
        ...own,
        ...volumeNames(volume),
        last_checkin: contactSeconds + quietSeconds,
        ...(unprotected !== undefined && { oldest_unprotected_data: unprotected }),
      };
    });
    return [own, ...onVolumes];
  });
}

/** Up to about a minute while the appliance has contact. */
function secondsSinceContact(appliance: Appliance, at: number): number {
  const lostMs = at - lastContact(appliance);
  if (lostMs > 0) return Math.round(lostMs / 1000);
  return Math.floor(67 * sawtooth(`${appliance.serial}/contact`, at, 67_000));
}

/** The age of the oldest data that waits for the cloud. What waited when an appliance lost contact has waited ever since. */
function unprotectedSeconds(appliance: Appliance, volume: Volume, now: number): number | undefined {
  const at = Math.min(now, lastContact(appliance));
  const share = noise(`${appliance.serial}/${volume.guid}/unprotected`, at, 20 * MINUTE_MS);
  if (!volume.isSlow && share < 0.15) return undefined;
  const seconds = volume.isSlow ? 10_800 + 21_600 * share : 3_600 * share;
  return Math.round(seconds + (now - at) / 1000);
}

function head(type: string, at: number) {
  return { metric_type: type, version: 1, timestamp: rfc3339(at) };
}

function applianceNames({ serial, name }: Appliance) {
  return { filer_guid: serial, filer_title: name };
}

function volumeNames({ guid, name }: Volume) {
  return { volume_guid: guid, volume_title: name };
}

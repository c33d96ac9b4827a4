/**
 * Snapshots of volumes as a function of time. Each volume has slots of three minutes on a grid of its own. In each slot one
 * of its appliances, in turn, takes a snapshot: a data phase, and then a metadata phase that makes a new version.
 */
import { type DemoResponse, errorResponse, invalid, ok } from './exchange.ts';
import { type Appliance, type Fleet, lastContact, type Volume } from './fleet.ts';
import fleetJson from './responses/fleet.json' with { type: 'json' };
import { activity, decimalText, withPeriod } from './telemetry.ts';
import { DAY_MS, draw, draws, MINUTE_MS, rfc3339 } from './values.ts';

interface Phase {
  readonly startMs: number;
  readonly endMs: number;
}

interface Snapshot {
  readonly volume: Volume;
  readonly appliance: Appliance;
  /** One more than that of the snapshot before. */
  readonly version: number;
  readonly data: Phase;
  /** A first metadata phase that failed. */
  readonly failed: Phase | undefined;
  readonly metadata: Phase;
  /** From 0 to 1, for values that differ by snapshot. */
  readonly luck: number;
}

const SLOT_MS = 3 * MINUTE_MS;
/** Versions are counted from so long before the start. */
const HISTORY_MS = 32 * DAY_MS;

/** The snapshots of a volume that ended after `from` and not after `to`, oldest first. */
function snapshotsBetween(fleet: Fleet, volume: Volume, from: number, to: number): readonly Snapshot[] {
  const members = membersEver(fleet, volume);
  const found: Snapshot[] = [];
  for (let slot = slotAt(volume, from) - 1; slot <= slotAt(volume, to); slot += 1) {
    const snapshot = inSlot(fleet, volume, members, slot);
    if (snapshot !== undefined && snapshot.metadata.endMs > from && snapshot.metadata.endMs <= to) found.push(snapshot);
  }
  return found;
}

/** The failed metadata phases of a volume that ended after `from` and not after `to`. */
export function failuresBetween(fleet: Fleet, volume: Volume, from: number, to: number) {
  return snapshotsBetween(fleet, volume, from, to + SLOT_MS).flatMap(({ appliance, failed, version }) =>
    failed !== undefined && failed.endMs > from && failed.endMs <= to ? [{ appliance, version, at: failed.endMs }] : [],
  );
}

/** The appliances of a volume, also the removed ones, in the order in which they joined. */
function membersEver(fleet: Fleet, volume: Volume): readonly Appliance[] {
  return fleet.everyAppliance.filter(({ volumes }) => volumes.includes(volume));
}

function phaseOf(volume: Volume): number {
  return draw(volume.guid, 'snapshots') * SLOT_MS;
}

function slotAt(volume: Volume, at: number): number {
  return Math.floor((at - phaseOf(volume)) / SLOT_MS);
}

/** The appliance whose slot it is. An appliance counts from the time it joined, so that it changes no snapshot of the past. */
function memberOf(members: readonly Appliance[], slot: number, slotMs: number): Appliance | undefined {
  let present = members.length;
  while (present > 0 && (members[present - 1]?.joinedAt ?? 0) > slotMs) present -= 1;
  return members[slot % present];
}

/** The snapshot of a slot; there is none if its appliance is gone or out of contact. */
function inSlot(fleet: Fleet, volume: Volume, members: readonly Appliance[], slot: number): Snapshot | undefined {
  const dueMs = Math.round(phaseOf(volume) + slot * SLOT_MS);
  const appliance = memberOf(members, slot, dueMs);
  if (appliance === undefined || Math.min(appliance.leftAt, lastContact(appliance)) <= dueMs) return undefined;
  const random = draws(volume.guid, slot, 'snapshot');
  const phaseAfter = (startMs: number, shortest: number, longest: number): Phase => {
    return { startMs, endMs: startMs + Math.round(1000 * (shortest + (longest - shortest) * random())) };
  };
  const data = phaseAfter(dueMs + 5000, 15, 60);
  const failed = random() < (volume.isSlow ? 0.3 : 0.04) ? phaseAfter(data.endMs + 1000, 4, 15) : undefined;
  const metadata = phaseAfter((failed ?? data).endMs + 2000, 5, 20);
  const version = slot - slotAt(volume, fleet.startedAt - HISTORY_MS);
  return { volume, appliance, version, data, failed, metadata, luck: random() };
}

/** When a snapshot reaches the other appliances of its volume. */
function arrivals(fleet: Fleet, { volume, appliance, version, metadata }: Snapshot) {
  return fleet
    .membersOf(volume)
    .filter((other) => other !== appliance && other.joinedAt <= metadata.endMs && lastContact(other) > metadata.endMs)
    .map((to) => {
      const chance = draw(volume.guid, version, to.serial, 'sync');
      const at = metadata.endMs + Math.round((volume.isSlow ? 40_000 : 10_000) * 30 ** (chance ** 2));
      return { to, at };
    });
}

/** `POST /telemetry/volumes/{volume_id}/{operation}`. */
export function volumeTelemetry(
  fleet: Fleet,
  operation: string,
  volume: Volume,
  body: string,
  now: number,
): DemoResponse {
  const ofSnapshots = {
    snapshot_details: details,
    snapshot_timeline: timeline,
    snapshot_propagation_by_appliance: propagations,
  }[operation];
  if (ofSnapshots === undefined) return errorResponse('portal', 404, 'Unknown telemetry');
  return withPeriod(body, ['serial_numbers', 'chart_width', 'smart_sampling'], now, (period, fields) => {
    const { serial_numbers: serials } = fields;
    if (!Array.isArray(serials) || serials.length === 0)
      return invalid('serial_numbers', 'UUIDs are expected', serials);
    const requested: Requested = new Set(serials);
    const snapshots = snapshotsBetween(fleet, volume, period.startMs, Math.min(now, period.endMs));
    return ok(ofSnapshots(snapshots, requested, fleet, now));
  });
}

/** The serials that a request names. */
type Requested = ReadonlySet<unknown>;

function details(snapshots: readonly Snapshot[], requested: Requested) {
  const own = snapshots.filter(({ appliance }) => requested.has(appliance.serial));
  const items = own.map((snapshot) => {
    const { volume, version, data, metadata, luck } = snapshot;
    const meanSeconds = (volume.isSlow ? 9_000 : 240) * (0.5 + 1.5 * luck);
    const longestSeconds = meanSeconds * (1.5 + 3 * luck);
    const files = Math.round(20 + 4_000 * luck ** 3);
    return {
      ...nameOf(snapshot),
      volume: volume.portalId,
      time: metadata.endMs,
      metadata_snapshot_start: metadata.startMs,
      metadata_snapshot_end: metadata.endMs,
      dir_count: Math.ceil(files / 12),
      volume_version: version,
      protect_mean: decimalText(meanSeconds),
      protect_max: decimalText(longestSeconds),
      data_snapshot_start: data.startMs,
      data_snapshot_end: data.endMs,
      oud: Math.round(longestSeconds),
      file_count_ngl: files,
      file_count_gl: Math.round(200 * draw(volume.guid, version, 'locked') ** 2),
    };
  });
  return { metadata: {}, items };
}

function timeline(snapshots: readonly Snapshot[], requested: Requested) {
  const eventsOf = (phase: string, timesOf: (snapshot: Snapshot) => Phase | undefined) =>
    snapshots.flatMap((snapshot) => {
      const times = timesOf(snapshot);
      if (times === undefined || !requested.has(snapshot.appliance.serial)) return [];
      const { startMs: start_time, endMs: end_time } = times;
      return [{ phase, ...nameOf(snapshot), start_time, end_time, volume_version: snapshot.version }];
    });
  const failed = eventsOf('metadata_snapshot_failed', (snapshot) => snapshot.failed);
  return { metadata: {}, metadata_events: [...failed, ...eventsOf('metadata_snapshot', ({ metadata }) => metadata)] };
}

/** The snapshots that have reached the requested appliances by now. */
function propagations(snapshots: readonly Snapshot[], requested: Requested, fleet: Fleet, now: number) {
  const items = snapshots.flatMap((snapshot) =>
    arrivals(fleet, snapshot)
      .filter(({ to, at }) => at <= now && requested.has(to.serial))
      .map(({ to, at }) => ({
        snapshot_version: snapshot.version,
        sync_appliance: to.name,
        sync_serial_number: to.serial,
        sync_time: at,
      })),
  );
  return { items };
}

function nameOf({ appliance }: Snapshot) {
  return { appliance: appliance.name, serial_number: appliance.serial };
}

/** `GET /volume_connections`: a row for each volume and each appliance that is connected to it. */
export function connections(fleet: Fleet, now: number): DemoResponse {
  const items = fleet.volumes.flatMap((volume) => {
    const newest = newestSnapshots(fleet, volume, now);
    const owner = fleet.ownerOf(volume);
    return fleet.membersOf(volume).map((appliance) => {
      const { finished, current } = newest.get(appliance) ?? {};
      return {
        volume_id: volume.portalId,
        volume_name: volume.name,
        appliance_id: appliance.edgeId,
        appliance_name: appliance.name,
        role: appliance === owner ? 'owner' : 'connected',
        accessible_data: Math.round(1e12 + 2e13 * draw(volume.guid, 'size')),
        unprotected_data: unprotectedBytes(fleet, appliance, volume, finished, now),
        last_snapshot_utc: finished === undefined ? null : rfc3339(finished.metadata.endMs),
        current_snapshot_status: statusOf(current, finished, now),
        cloud_provider: volume.cloud.provider,
        cloud_region: volume.cloud.region,
        ...fleetJson.connection,
      };
    });
  });
  return ok({ items });
}

interface NewestSnapshots {
  finished?: Snapshot;
  current?: Snapshot;
}

/** Each appliance has had a slot within as many slots as there are appliances, and one that is finished within twice as many. */
function newestSnapshots(fleet: Fleet, volume: Volume, now: number): ReadonlyMap<Appliance, NewestSnapshots> {
  const members = membersEver(fleet, volume);
  const newest = new Map<Appliance, NewestSnapshots>(members.map((appliance) => [appliance, {}]));
  const currentSlot = slotAt(volume, now);
  for (let slot = currentSlot; slot > currentSlot - 2 * members.length; slot -= 1) {
    const appliance = memberOf(members, slot, phaseOf(volume) + slot * SLOT_MS);
    const known = appliance && newest.get(appliance);
    if (known === undefined || known.finished !== undefined) continue;
    const snapshot = inSlot(fleet, volume, members, slot);
    if (snapshot === undefined) continue;
    if (snapshot.metadata.endMs <= now) known.finished = snapshot;
    else known.current = snapshot;
  }
  return newest;
}

/**
 * Unprotected bytes grow until a snapshot protects them. An appliance that has no contact writes nothing, so its unprotected
 * bytes stay as they were at the last contact.
 */
function unprotectedBytes(fleet: Fleet, appliance: Appliance, volume: Volume, last: Snapshot | undefined, now: number) {
  const at = Math.min(now, lastContact(appliance));
  const startedAt = Math.max(appliance.joinedAt, fleet.startedAt - MINUTE_MS);
  const protectedAt = last === undefined ? startedAt : last.data.startMs;
  const since = at < now ? Math.min(protectedAt, at - 20 * MINUTE_MS) : protectedAt;
  const bytesPerSecond = 3e6 * draw(appliance.serial, volume.guid, 'written') * (volume.isSlow ? 40 : 1);
  return Math.round(bytesPerSecond * (0.1 + activity(appliance, at)) * Math.max(0, (at - since) / 1000));
}

function statusOf(current: Snapshot | undefined, finished: Snapshot | undefined, now: number): string {
  if (current !== undefined) {
    const { data, failed, metadata } = current;
    if (now < data.startMs) return 'pending';
    return failed !== undefined && now >= failed.endMs && now < metadata.startMs ? 'failed' : 'in_progress';
  }
  if (finished === undefined) return 'idle';
  return now < finished.metadata.endMs + MINUTE_MS ? 'succeeded' : 'up_to_date';
}

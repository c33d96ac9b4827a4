/** Notifications, jobs and cloud credentials: lists that advance with time. */
import { type DemoResponse, ok } from './exchange.ts';
import type { Appliance, Fleet } from './fleet.ts';
import activityJson from './responses/activity.json' with { type: 'json' };
import fleetJson from './responses/fleet.json' with { type: 'json' };
import { failuresBetween } from './snapshots.ts';
import { DAY_MS, draw, floorTo, HOUR_MS, MINUTE_MS, rfc3339, uuidOf } from './values.ts';

interface Notification {
  readonly at: number;
  readonly appliance: Appliance;
  readonly volumeName: string | null;
  readonly words: (typeof activityJson.ordinary)[number];
}

/** Most slots of an appliance have an ordinary notification. */
const NOTIFICATION_SLOT_MS = 15 * MINUTE_MS;
/** Most slots start a job; those of a day are listed. */
const JOB_SLOT_MS = 4 * MINUTE_MS;

/** The notifications that were generated after `from` and not after `to`, oldest first. */
export function notifications(fleet: Fleet, from: number, to: number): readonly object[] {
  const found: Notification[] = [];
  for (const volume of fleet.volumes) {
    for (const { appliance, at } of failuresBetween(fleet, volume, from, to)) {
      found.push({ at, appliance, volumeName: volume.name, words: activityJson.snapshotFailed });
    }
  }
  for (const appliance of fleet.everyAppliance) found.push(...ordinaryNotifications(appliance, from, to));
  return found
    .filter(({ at, appliance }) => at > appliance.joinedAt && at <= appliance.leftAt)
    .sort((one, other) => one.at - other.at)
    .map(({ at, appliance, volumeName, words }) => ({
      id: uuidOf('notification', appliance.serial, words.code_name, at),
      ...words,
      generated_at: rfc3339(at),
      source: 'SYSTEM_GENERATED',
      appliance_name: appliance.name,
      volume_name: volumeName,
    }));
}

function ordinaryNotifications(appliance: Appliance, from: number, to: number): readonly Notification[] {
  const { serial } = appliance;
  const { ordinary } = activityJson;
  const phaseMs = Math.round(draw(serial, 'notifications') * NOTIFICATION_SLOT_MS);
  const found: Notification[] = [];
  for (
    let start = floorTo(from - phaseMs, NOTIFICATION_SLOT_MS) + phaseMs;
    start <= to;
    start += NOTIFICATION_SLOT_MS
  ) {
    const at = start + Math.round(draw(serial, start, 'when') * NOTIFICATION_SLOT_MS);
    const words = ordinary[Math.floor(draw(serial, start, 'what') * ordinary.length)];
    if (words === undefined || draw(serial, start, 'quiet') < 0.3 || at <= from || at > to) continue;
    found.push({ at, appliance, volumeName: null, words });
  }
  return found;
}

/** The jobs of a day, newest first. `canFail`: one in six fails, and a few run for hours. */
export function jobs(now: number, canFail: boolean): readonly object[] {
  const found: object[] = [];
  for (let at = floorTo(now, JOB_SLOT_MS); at > now - DAY_MS; at -= JOB_SLOT_MS) {
    if (draw('job', at) < 0.7) found.push(job(at, now, canFail));
  }
  return found;
}

function job(createdAt: number, now: number, canFail: boolean) {
  const chance = (what: string) => draw('job', createdAt, what);
  const words = activityJson.jobs[Math.floor(chance('kind') * activityJson.jobs.length)];
  const isStuck = canFail && chance('stuck') < 0.04;
  const endedAt = createdAt + Math.round(isStuck ? 5 * HOUR_MS : MINUTE_MS * (2 + 20 * chance('length')));
  const hasFailed = canFail && chance('end') < 1 / 6;
  return {
    id: uuidOf('job', createdAt),
    created_at: rfc3339(createdAt),
    ...words,
    state: now < endedAt ? 'in_progress' : hasFailed ? 'failed' : 'completed',
    last_updated_at: rfc3339(Math.min(endedAt, floorTo(now, MINUTE_MS / 2))),
    reason: null,
    // Somebody looks at a failed job within an hour.
    user_acknowledged_at: hasFailed && now > endedAt + HOUR_MS ? rfc3339(endedAt + HOUR_MS) : null,
  };
}

/** A row for each cloud credential on each appliance. */
export function cloudCredentials(fleet: Fleet): readonly object[] {
  const edges = fleet.appliances.filter(({ kind }) => kind === 'edge');
  return fleetJson.credentials.flatMap(({ name, shortname }) =>
    edges.map((appliance) => {
      const volumes = appliance.volumes.filter(({ cloud }) => cloud.credential === name);
      return {
        id: uuidOf('credential', appliance.serial, name),
        appliance_id: appliance.edgeId,
        appliance_serial: appliance.serial,
        appliance_name: appliance.name,
        name,
        cred_type: shortname,
        access_key: `confidential-access-key-${name}`,
        status: 'synced',
        created_at: '2025-03-01T10:00:00Z',
        volumes: volumes.map((volume) => ({ volume_id: volume.portalId, name: volume.name })),
        error: null,
      };
    }),
  );
}

/**
 * A page of a list that is sorted by time, oldest first, so that no item is on two pages although the list may have grown
 * since the page before. The cursor of the next page is a UUID that holds its place.
 */
export function pageOf(items: readonly object[], query: URLSearchParams): DemoResponse {
  const limit = Number(query.get('limit') ?? DEFAULT_LIMIT);
  const next = Number(query.get('iterator_id')?.slice(CURSOR.length) ?? 0) + limit;
  const cursor = next < items.length ? CURSOR + String(next).padStart(12, '0') : null;
  return ok({ items: items.slice(next - limit, next), metadata: { iterator_id: cursor } });
}

const DEFAULT_LIMIT = 50;
const CURSOR = '5c0a7e70-0000-4000-8000-';

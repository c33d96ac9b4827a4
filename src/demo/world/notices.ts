/**
 * Notifications as a function of time: events of the world (a failed metadata snapshot, an unreachable appliance), and
 * routine ones, one in most quarters of an hour of each appliance.
 */
import { losses } from './reach.ts';
import { snapshotsOf } from './snapshots.ts';
import { draw, floorTo, HOUR_MS, MINUTE_MS, uuidOf } from './waveforms.ts';
import type { DemoAppliance, SimulatedFleet } from './world.ts';

/** One notification before it becomes JSON. */
export interface Notice {
  readonly id: string;
  readonly at: number;
  readonly severity: 'ALERT' | 'ERROR' | 'WARNING' | 'INFO' | 'ADMIN';
  readonly category: string;
  readonly subCategory: string;
  readonly codeName: string;
  readonly message: string;
  readonly applianceName: string | null;
  readonly volumeName: string | null;
}

type Text = Pick<Notice, 'severity' | 'category' | 'subCategory' | 'codeName' | 'message'>;

const SLOT_MS = 15 * MINUTE_MS;

const ordinary: readonly Text[] = [
  text('INFO', 'Snapshots & Sync', 'Success', 'SNAPSHOT_COMPLETE', 'Snapshot completed'),
  text('INFO', 'Cache Management', 'Eviction', 'CACHE_EVICTED', 'Cache was evicted'),
  text('WARNING', 'Network', 'NOC', 'NOC_SLOW', 'Connection to the operations centre is slow'),
  text('WARNING', 'System Health & Performance', 'Resources', 'MEMORY_HIGH', 'Memory is nearly used up'),
  text('INFO', 'Security & Access', 'Remote Support', 'SUPPORT_CLOSED', 'Remote support was closed'),
  text('ERROR', 'Directory Services', 'Errors', 'DOMAIN_UNREACHABLE', 'No domain controller responds'),
  text('ADMIN', 'Volume Management', 'Sharing', 'SHARE_EDITED', 'A share was changed'),
];

/** The notifications generated after `from` and not after `to`, newest first. */
export function noticesBetween(world: SimulatedFleet, from: number, to: number): readonly Notice[] {
  const notices = [...failedSnapshots(world, from, to)];
  for (const appliance of world.everyAppliance) {
    notices.push(...ofAppliance(world, appliance, from, to));
  }
  return notices.sort((one, other) => other.at - one.at || (one.id < other.id ? -1 : 1));
}

function text(
  severity: Notice['severity'],
  category: string,
  subCategory: string,
  codeName: string,
  message: string,
): Text {
  return { severity, category, subCategory, codeName, message };
}

function failedSnapshots(world: SimulatedFleet, from: number, to: number): readonly Notice[] {
  return world.volumes.flatMap((volume) =>
    // One slot later too: a failure comes before the snapshot that it delays.
    snapshotsOf(world, volume, from, to + 5 * MINUTE_MS).flatMap(({ appliance, failed, version }) => {
      if (failed === undefined || failed.endMs <= from || failed.endMs > to) return [];
      return [
        {
          ...text('ERROR', 'Snapshots & Sync', 'Snapshot', 'SNAPSHOT_FAILED', `Snapshot of ${volume.title} failed`),
          id: uuidOf(world.seed, 'notice', volume.guid, version),
          at: failed.endMs,
          applianceName: appliance.title,
          volumeName: volume.title,
        },
      ];
    }),
  );
}

function ofAppliance(world: SimulatedFleet, appliance: DemoAppliance, from: number, to: number): readonly Notice[] {
  const { serial, title, availableBuild } = appliance;
  const named = (what: string, at: number) => {
    return { id: uuidOf(world.seed, 'notice', serial, what, at), at, applianceName: title, volumeName: null };
  };
  const lost = text('ALERT', 'System Health & Performance', 'Unreachable', 'APPLIANCE_UNREACHABLE', 'No contact');
  const update = text('INFO', 'Software & Firmware Updates', 'New', 'UPDATE_AVAILABLE', 'An update is available');
  const notices: Notice[] = losses(world, appliance, from, to).map((at) => ({ ...lost, ...named('lost', at) }));
  const phase = Math.round(draw(serial, 'notices') * SLOT_MS);
  for (let start = floorTo(from - phase, SLOT_MS) + phase; start <= to; start += SLOT_MS) {
    if (draw(serial, start, 'quiet') < 0.3) continue;
    const what = ordinary[Math.floor(draw(serial, start, 'what') * ordinary.length)] ?? update;
    notices.push({ ...what, ...named('ordinary', start + Math.round(draw(serial, start, 'when') * SLOT_MS)) });
  }
  if (availableBuild !== undefined) {
    for (let at = floorTo(from, 6 * HOUR_MS); at <= to; at += 6 * HOUR_MS)
      notices.push({ ...update, ...named('new', at) });
  }
  return notices.filter(({ at }) => at > from && at <= to && at > appliance.joinedAt && at <= appliance.leftAt);
}

import type { NoteDrop, Sample } from '../../../metrics/samples.ts';
import type { Task } from '../../../metrics/task.ts';
import { CountingStart } from '../../../runtime/counting-start.ts';
import { RequestError } from '../../../runtime/errors.ts';
import { inSlices } from '../../../runtime/slices.ts';
import { isoPeriod, Lookback, SHORTEST_PERIOD_MS } from '../appliances/lookback.ts';
import { shardOf } from '../appliances/shard.ts';
import { accountTask, afterInventory, type CollectorRow, type PortalParts } from '../collector-row.ts';
import { readConnections } from './connections.ts';
import { FailedSnapshots } from './failed-snapshots.ts';
import { FinishedSnapshots } from './finished-snapshots.ts';
import { PropagatedSnapshots } from './propagated-snapshots.ts';
import { type LedgerParts, LONGEST_PERIOD_MS, type SnapshotLedger } from './snapshot-ledgers.ts';
import { snapshotTables } from './snapshot-tables.ts';

const DAY_MS = 86_400_000;

/** Ids that can be part of a path unchanged: others could be read as another path. */
const PORTAL_ID = /^[\w-]+$/;

interface Segment {
  readonly create: (parts: LedgerParts) => SnapshotLedger;
  /** The period of the first request: a volume may make one snapshot a day. */
  readonly firstPeriodMs: number;
}

const SEGMENTS: Readonly<Record<string, Segment>> = {
  snapshot_details: { create: (parts) => new FinishedSnapshots(parts), firstPeriodMs: DAY_MS },
  snapshot_timeline: { create: (parts) => new FailedSnapshots(parts), firstPeriodMs: DAY_MS },
  // One record for each snapshot and receiving appliance: a day of a large fleet would be too large an answer.
  snapshot_propagation_by_appliance: { create: (parts) => new PropagatedSnapshots(parts), firstPeriodMs: DAY_MS / 24 },
};

/**
 * The snapshots of every volume: three requests for each volume, and at a longer interval one for the list of volumes.
 */
export const volumeTelemetry: CollectorRow = {
  name: 'volume_telemetry',
  intervalMs: 900_000,
  tables: snapshotTables,
  cost: { account: 0, perAppliance: 0, perVolume: 3 },
  size: { volume: 9, histograms: 2.3 },
  create: (parts, intervalMs) => {
    const collector = new VolumeTelemetry(parts, intervalMs);
    return afterInventory(parts, () => collector.tasks());
  },
};

interface Volume {
  readonly id: string;
  name: string;
  serials: readonly string[];
  /** Monotonic milliseconds. */
  listedAt: number;
  readonly tasks: readonly Task[];
}

class VolumeTelemetry {
  readonly #parts: PortalParts;
  readonly #intervalMs: number;
  readonly #lookback: Lookback;
  readonly #since: CountingStart;
  readonly #list: Task;
  /** By guid; one that no list has any more is asked about until it is forgotten: that it is gone, its own answers say. */
  readonly #volumes = new Map<string, Volume>();

  constructor(parts: PortalParts, intervalMs: number) {
    this.#parts = parts;
    this.#intervalMs = intervalMs;
    this.#lookback = new Lookback(LONGEST_PERIOD_MS);
    this.#since = new CountingStart(parts.clock);
    const listTask = accountTask(parts, parts.discoveryIntervalMs, 'volumes_listed', async (note, signal) => {
      await this.#discover(note, signal);
      return [];
    });
    this.#list = { ...listTask, operation: 'volume_connections', changesTasks: true };
  }

  tasks(): readonly Task[] {
    return [this.#list, ...[...this.#volumes.values()].flatMap(({ tasks }) => tasks)];
  }

  /** Reads the list of volumes and their appliances. */
  async #discover(note: NoteDrop, signal: AbortSignal): Promise<void> {
    const { client, appliances, clock, shard, forgetAfterMs } = this.#parts;
    const request = {
      method: 'GET',
      path: '/volume_connections',
      operation: 'volume_connections',
      size: 'list',
    } as const;
    const body = await client.send(request, signal);
    const now = clock.monotonic();
    const serials = new Map<string, Set<string>>();
    for (const { id, serial, labels } of await inSlices(readConnections(body, appliances, note), clock)) {
      const { volume_guid: guid, volume: name } = labels;
      if (serial === undefined) note('record', 'appliance_id');
      if (serial === undefined || shardOf(guid, shard.total) !== shard.index) continue;
      if (!PORTAL_ID.test(id)) {
        note('record', 'volume_id');
        continue;
      }
      const volume = this.#volumes.get(guid) ?? this.#volumeOf(id, guid, name);
      this.#volumes.set(guid, Object.assign(volume, { name, listedAt: now }));
      const connected = serials.get(guid) ?? new Set();
      serials.set(guid, connected.add(serial));
    }
    for (const [guid, volume] of this.#volumes) {
      volume.serials = [...(serials.get(guid) ?? volume.serials)];
      if (now - volume.listedAt > forgetAfterMs) this.#volumes.delete(guid);
    }
  }

  #volumeOf(id: string, guid: string, name: string): Volume {
    const { appliances, histograms } = this.#parts;
    const volume: { name: string; serials: readonly string[] } = { name, serials: [] };
    const parts: LedgerParts = {
      volume: () => ({ volume_guid: guid, volume: volume.name }),
      since: this.#since,
      histograms,
      nameOf: (serial) => appliances.find(serial)?.name,
    };
    const tasks = Object.entries(SEGMENTS).map(([segment, { create, firstPeriodMs }]) =>
      this.#segmentTask(id, guid, segment, firstPeriodMs, create(parts), () => volume.serials),
    );
    return Object.assign(volume, { id, listedAt: 0, tasks });
  }

  #segmentTask(
    id: string,
    guid: string,
    segment: string,
    firstPeriodMs: number,
    ledger: SnapshotLedger,
    serials: () => readonly string[],
  ): Task {
    const { clock, licence } = this.#parts;
    const taskId = `portal/volume/${guid}/${segment}`;
    const path = `/telemetry/volumes/${id}/${segment}`;
    let succeeded: Moment | undefined;
    const task = accountTask(this.#parts, this.#intervalMs, segment, async (note, signal): Promise<Sample[]> => {
      for (;;) {
        const asked: Moment = {
          wall: this.#since.isKnown ? clock.now() : undefined,
          monotonic: clock.monotonic(),
        };
        // After an outage, requests the period that it covered.
        const wanted = succeeded === undefined ? firstPeriodMs : sinceThen(succeeded, asked) + 2 * this.#intervalMs;
        const periodMs = Math.min(this.#lookback.of(taskId), Math.max(SHORTEST_PERIOD_MS, wanted));
        const json = { period: isoPeriod(periodMs), serial_numbers: serials() };
        try {
          const body = await this.#parts.client.send(
            { method: 'POST', path, operation: segment, size: 'list', json },
            signal,
          );
          this.#lookback.recover(taskId);
          succeeded = asked;
          return await inSlices(ledger.absorb(body, clock.now() / 1000, note), clock);
        } catch (error) {
          if (!isTooMuch(error) || !this.#lookback.shorten(taskId, periodMs))
            throw await licence.explained(error, signal);
        }
      }
    });
    return { ...task, id: taskId };
  }
}

/** A moment by both of the machine's clocks, in milliseconds. */
interface Moment {
  /** Undefined if the wall clock could not be right. */
  readonly wall: number | undefined;
  readonly monotonic: number;
}

/**
 * The time since a moment: the wall clock may have been set back meanwhile, and the monotonic clock stops while a
 * machine is suspended.
 */
function sinceThen(then: Moment, now: Moment): number {
  const byWall = now.wall === undefined || then.wall === undefined ? 0 : now.wall - then.wall;
  return Math.max(byWall, now.monotonic - then.monotonic);
}

/**
 * Whether a shorter period may help: the portal or the exporter finds the answer too large, or the portal finds it too
 * slow.
 */
function isTooMuch(error: unknown): boolean {
  return error instanceof RequestError && (error.status === 408 || error.status === 413 || error.fault === 'oversize');
}

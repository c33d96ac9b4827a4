import type { Task } from '../../../contract/task.ts';
import type { ReportDrop, Sample } from '../../../metrics/samples.ts';
import { CountingStart } from '../../../runtime/counting-start.ts';
import { getOrCreate } from '../../../runtime/maps.ts';
import { iterateInSlices } from '../../../runtime/slices.ts';
import {
  isoInterval,
  isoPeriod,
  isPeriodTooLong,
  isRejected,
  MIN_PERIOD_MS,
  PeriodRequester,
} from '../appliances/period-requester.ts';
import { shardOf } from '../appliances/shard.ts';
import { accountTask, type CollectorDefinition, type PortalContext } from '../collector-definition.ts';
import { iterateRecords } from '../records.ts';
import { readConnections, volumeApplianceLabels } from './connections.ts';
import { MAX_PERIOD_MS, SnapshotLedger } from './snapshot-ledger.ts';
import { type SnapshotOperation, snapshotOperations } from './snapshot-operations.ts';

/** Ids that can be part of a path unchanged: others could be read as another path. */
const PORTAL_ID = /^[\w-]+$/;

export const volumeTelemetry: CollectorDefinition = {
  name: 'volume_telemetry',
  intervalMs: 900_000,
  tables: Object.entries(snapshotOperations).map(([source, { families }]) => ({
    source,
    commonLabels: volumeApplianceLabels,
    families,
  })),
  requestsPerCycle: { perVolume: 3 },
  sampleCounts: { volume: 9, histograms: 2.3 },
  waitsForInventory: true,
  create: (parts, intervalMs) => {
    const collector = new VolumeTelemetry(parts, intervalMs);
    return () => collector.tasks();
  },
};

interface Volume {
  readonly id: string;
  readonly guid: string;
  name: string;
  serials: readonly string[];
  /** Monotonic milliseconds. */
  listedAt: number;
  tasks: readonly Task[];
}

class VolumeTelemetry {
  readonly #parts: PortalContext;
  readonly #intervalMs: number;
  readonly #lookback = new PeriodRequester();
  readonly #since: CountingStart;
  readonly #list: Task;
  /** By guid. A volume that has left the list is still polled until it is forgotten: its own answers say whether it is gone. */
  readonly #volumes = new Map<string, Volume>();

  constructor(parts: PortalContext, intervalMs: number) {
    this.#parts = parts;
    this.#intervalMs = intervalMs;
    this.#since = new CountingStart(parts.client.serviceClock);
    const listTask = accountTask(parts, parts.settings.discoveryIntervalMs, 'volumes_listed', async (note, signal) => {
      await this.#discover(note, signal);
      return { samples: [] };
    });
    this.#list = { ...listTask, operation: 'volume_connections', discoversTasks: true };
  }

  *tasks(): Generator<Task> {
    // A task's id contains the guid of its volume.
    this.#lookback.limits.keepOnly((id) => this.#volumes.has(id.split('/')[2] ?? ''));
    yield this.#list;
    for (const { tasks } of this.#volumes.values()) yield* tasks;
  }

  async #discover(note: ReportDrop, signal: AbortSignal): Promise<void> {
    const { client, clock, settings } = this.#parts;
    const { shard, forgetAfterMs } = settings;
    const operation = 'volume_connections';
    const request = { method: 'GET', path: '/volume_connections', operation, size: 'list' } as const;
    const body = await client.send(request, signal);
    const now = clock.monotonic();
    const serials = new Map<string, Set<string>>();
    const records = iterateInSlices(iterateRecords(body, 'GET /volume_connections', note), clock);
    for await (const { id, serial, labels } of readConnections(records, this.#parts, note)) {
      const { volume_guid: guid, volume: name } = labels;
      if (serial === undefined) note('record', 'appliance_id');
      if (serial === undefined || shardOf(guid, shard.total) !== shard.index) continue;
      if (!PORTAL_ID.test(id)) {
        note('record', 'volume_id');
        continue;
      }
      const volume = getOrCreate(this.#volumes, guid, () => this.#volumeOf(id, guid));
      volume.name = name;
      volume.listedAt = now;
      getOrCreate(serials, guid, () => new Set()).add(serial);
    }
    for (const [guid, volume] of this.#volumes) {
      volume.serials = [...(serials.get(guid) ?? volume.serials)];
      if (now - volume.listedAt > forgetAfterMs) this.#volumes.delete(guid);
    }
  }

  #volumeOf(id: string, guid: string): Volume {
    const volume: Volume = { id, guid, name: guid, serials: [], listedAt: 0, tasks: [] };
    volume.tasks = Object.entries(snapshotOperations).map(([segment, operation]) =>
      this.#segmentTask(volume, segment, operation),
    );
    return volume;
  }

  #segmentTask(volume: Volume, segment: string, operation: SnapshotOperation): Task {
    const { appliances, client, clock, settings } = this.#parts;
    const id = `portal/volume/${volume.guid}/${segment}`;
    const path = `/telemetry/volumes/${volume.id}/${segment}`;
    const ledger = new SnapshotLedger(operation, {
      volume: () => ({ volume_guid: volume.guid, volume: volume.name }),
      since: this.#since,
      bounds: settings.bounds,
      nameOf: (serial) => appliances.find(serial)?.name,
    });
    let succeededAt: number | undefined;
    const task = accountTask(this.#parts, this.#intervalMs, segment, async (note, signal) => {
      const now = clock.monotonic();
      // After an outage, requests the period that it covered.
      const missed = succeededAt === undefined ? operation.firstPeriodMs : now - succeededAt + 2 * this.#intervalMs;
      const wanted = Math.min(Math.max(MIN_PERIOD_MS, missed), MAX_PERIOD_MS);
      const to = client.now();
      let samples: readonly Sample[] = [];
      const how = { longestMs: MAX_PERIOD_MS };
      const { failure } = await this.#lookback.requestPeriod(
        id,
        { from: to - wanted, to },
        how,
        async (part, isAll) => {
          const period = isAll ? isoPeriod(wanted) : isoInterval(part);
          const json = { period, serial_numbers: volume.serials, smart_sampling: false };
          const body = await client.send({ method: 'POST', path, operation: segment, size: 'list', json }, signal);
          const records = iterateInSlices(iterateRecords(body, segment, note, operation.list), clock);
          samples = await ledger.absorb(records, client.now() / 1000, note);
        },
      );
      if (failure !== undefined) {
        if (!isPeriodTooLong(failure) && !isRejected(failure)) throw failure;
        note('record', 'period');
      }
      succeededAt = now;
      return { samples };
    });
    return { ...task, id };
  }
}

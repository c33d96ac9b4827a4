import type { Task } from '../../../contract/task.ts';
import type { ReportDrop, Sample } from '../../../metrics/samples.ts';
import { CountingStart } from '../../../runtime/counting-start.ts';
import { getOrCreate } from '../../../runtime/maps.ts';
import { iterateInSlices } from '../../../runtime/slices.ts';
import { callsForShorterPeriod, isoInterval, isoPeriod, MIN_PERIOD_MS, PeriodLimits } from '../appliances/periods.ts';
import { accountTask, type CollectorDefinition, type OwnFields } from '../collector-definition.ts';
import type { PortalContext } from '../context.ts';
import { iterateRecords } from '../records.ts';
import { readConnections, volumeApplianceLabels } from './connections.ts';
import { MAX_PERIOD_MS, SnapshotLedger } from './snapshot-ledger.ts';
import { type SnapshotOperation, snapshotOperations } from './snapshot-operations.ts';

/** Ids that may be part of a request's path. Another id could be read as another path. */
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
  create: (context, own) => {
    const collector = new VolumeTelemetry(context, own);
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
  readonly #context: PortalContext;
  readonly #own: OwnFields;
  readonly #periodLimits = new PeriodLimits();
  readonly #since: CountingStart;
  readonly #listTask: Task;
  /**
   * The volumes by guid. A volume that is no longer listed is polled until it is forgotten, because only its own
   * responses show whether it is gone.
   */
  readonly #volumes = new Map<string, Volume>();

  constructor(context: PortalContext, own: OwnFields) {
    this.#context = context;
    this.#own = own;
    this.#since = new CountingStart(context.client.serviceClock);
    const listTask = accountTask(
      context,
      { ...own, intervalMs: context.options.discoveryIntervalMs },
      'volumes_listed',
      async (reportDrop, signal) => {
        await this.#discover(reportDrop, signal);
        return { samples: [] };
      },
    );
    this.#listTask = { ...listTask, operation: 'volume_connections', discoversTasks: true };
  }

  *tasks(): Generator<Task> {
    // A task's id contains the guid of its volume.
    this.#periodLimits.keepOnly((id) => this.#volumes.has(id.split('/')[2] ?? ''));
    yield this.#listTask;
    for (const { tasks } of this.#volumes.values()) yield* tasks;
  }

  async #discover(reportDrop: ReportDrop, signal: AbortSignal): Promise<void> {
    const { client, clock, options } = this.#context;
    const { forgetAfterMs } = options;
    const operation = 'volume_connections';
    const request = { method: 'GET', path: '/volume_connections', operation } as const;
    const body = await client.send(request, signal);
    const now = clock.monotonic();
    const serials = new Map<string, Set<string>>();
    const records = iterateInSlices(iterateRecords(body, 'GET /volume_connections', reportDrop), clock);
    for await (const { id, serial, labels } of readConnections(records, this.#context, reportDrop)) {
      const { volume_guid: guid, volume: name } = labels;
      if (serial === undefined) reportDrop('record', 'appliance_id');
      if (serial === undefined) continue;
      if (!PORTAL_ID.test(id)) {
        reportDrop('record', 'volume_id');
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
    const { appliances, client, clock, options } = this.#context;
    const id = `portal/volume/${volume.guid}/${segment}`;
    const path = `/telemetry/volumes/${volume.id}/${segment}`;
    const ledger = new SnapshotLedger(operation, {
      volume: () => ({ volume_guid: volume.guid, volume: volume.name }),
      since: this.#since,
      bounds: options.bounds,
      nameOf: (serial) => appliances.find(serial)?.name,
      clock,
    });
    let succeededAt: number | undefined;
    const task = accountTask(this.#context, this.#own, segment, async (reportDrop, signal) => {
      const now = clock.monotonic();
      // After an outage, the request covers the outage.
      const missedMs =
        succeededAt === undefined ? operation.firstPeriodMs : now - succeededAt + 2 * this.#own.intervalMs;
      const wantedMs = Math.min(Math.max(MIN_PERIOD_MS, missedMs), MAX_PERIOD_MS);
      const end = client.now();
      let samples: readonly Sample[] = [];
      const send = async (to: number, lengthMs: number) => {
        // A duration ends when the service reads the request.
        const period = lengthMs === wantedMs ? isoPeriod(wantedMs) : isoInterval({ from: to - lengthMs, to });
        const json = { period, serial_numbers: volume.serials, smart_sampling: false };
        const request = { method: 'POST', path, operation: segment, purpose: 'series', json } as const;
        const body = await client.send(request, signal);
        const records = iterateInSlices(iterateRecords(body, segment, reportDrop, operation.list), clock);
        samples = await ledger.add(records, client.now() / 1000, reportDrop);
      };
      // If the whole period is too long for one request, the newest part is read first.
      let to = end;
      try {
        while (to > end - wantedMs) {
          const part = await this.#periodLimits.request(id, to - end + wantedMs, (lengthMs) => send(to, lengthMs));
          to -= part.lengthMs;
        }
      } catch (error) {
        if (to === end || !callsForShorterPeriod(error)) throw error;
        reportDrop('record', 'period');
      }
      succeededAt = now;
      return { samples };
    });
    return { ...task, id };
  }
}

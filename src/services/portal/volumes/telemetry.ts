import type { Task } from '../../../contract/task.ts';
import type { JsonObject, Labels } from '../../../metrics/family.ts';
import type { ReportDrop, Sample } from '../../../metrics/samples.ts';
import { CountingStart } from '../../../runtime/counting-start.ts';
import { getOrCreate } from '../../../runtime/maps.ts';
import { isoPeriod, PeriodLimit } from '../appliances/periods.ts';
import type { CollectorDefinition, PortalContext, TaskSettings } from '../context.ts';
import { accountTask, readTask } from '../reads.ts';
import { recordsOf } from '../records.ts';
import { connectionsIn, volumeApplianceLabels } from './connections.ts';
import { SnapshotLedger } from './snapshot-ledger.ts';
import {
  type SnapshotOperation,
  snapshotDetails,
  snapshotOperations,
  snapshotPropagation,
  versionsBehind,
} from './snapshot-operations.ts';

/** Ids that may be part of a request's path. Another id could be read as another path. */
const PORTAL_ID = /^[\w-]+$/;

/** The longest period that the service accepts. */
const MAX_PERIOD_MS = 30 * 86_400_000;

/** The period of the first request of a volume, which may make only one snapshot a day. */
const FIRST_PERIOD_MS = 86_400_000;

export const volumeTelemetry: CollectorDefinition = {
  name: 'volume_telemetry',
  intervalMs: 900_000,
  tables: [
    ...snapshotOperations.map(({ segment: source, newest, total = [], durations = [] }) => {
      return { source, commonLabels: volumeApplianceLabels, families: [newest, total, durations].flat() };
    }),
    {
      source: `${snapshotDetails.segment}, ${snapshotPropagation.segment}`,
      commonLabels: volumeApplianceLabels,
      families: [versionsBehind],
    },
  ],
  requestsPerCycle: { perVolume: 3 },
  create: (context, settings) => {
    const collector = new VolumeTelemetry(context, settings);
    return () => collector.tasks();
  },
};

interface Volume {
  readonly id: string;
  readonly guid: string;
  name: string;
  /** The appliances that are connected by the latest list. */
  listed: readonly string[];
  /** The appliances by the latest two lists: one that is missing in one list stays, because lists are not documented as complete. */
  serials: readonly string[];
  /** When it was last listed, in monotonic milliseconds. */
  listedAt: number;
  readonly ledgers: ReadonlyMap<SnapshotOperation, SnapshotLedger>;
  tasks: readonly Task[];
}

class VolumeTelemetry {
  readonly #context: PortalContext;
  readonly #settings: TaskSettings;
  readonly #start: CountingStart;
  readonly #listTask: Task;
  /** By guid. A volume that is no longer listed is remembered for FORGET_AFTER, so that no snapshot counts twice if it returns. */
  readonly #volumes = new Map<string, Volume>();

  constructor(context: PortalContext, settings: TaskSettings) {
    this.#context = context;
    this.#settings = settings;
    this.#start = new CountingStart(context.client.serviceClock);
    const listSettings = { ...settings, intervalMs: context.options.discoveryIntervalMs };
    // The list has no samples: it says which volumes are polled.
    const listTask = readTask(context, listSettings, {
      path: '/volume_connections',
      perObject: [{ families: [], labels: [], of: (records, _, reportDrop) => this.#discover(records, reportDrop) }],
    });
    this.#listTask = { ...listTask, id: 'portal/volumes_listed', discoversTasks: true };
  }

  *tasks(): Generator<Task> {
    yield this.#listTask;
    for (const { name, serials, tasks } of this.#volumes.values()) {
      if (serials.length === 0) continue;
      const names = [name, ...serials.map(this.#context.appliances.nameOf)].join();
      for (const task of tasks) yield { ...task, names };
    }
  }

  #discover(records: readonly JsonObject[], reportDrop: ReportDrop): [] {
    const { appliances, clock, options } = this.#context;
    const now = clock.monotonic();
    const serials = new Map<Volume, Set<string>>();
    for (const { id, serial, labels } of connectionsIn(records, appliances, reportDrop)) {
      if (serial === undefined || !PORTAL_ID.test(id)) {
        reportDrop('record', serial === undefined ? 'appliance_id' : 'volume_id');
        continue;
      }
      const { volume_guid: guid, volume: name } = labels;
      const volume = getOrCreate(this.#volumes, guid, () => this.#createVolume(id, guid));
      volume.name = name;
      getOrCreate(serials, volume, () => new Set()).add(serial);
    }
    for (const [guid, volume] of this.#volumes) {
      const listed = [...(serials.get(volume) ?? [])];
      volume.serials = [...new Set([...listed, ...volume.listed])];
      volume.listed = listed;
      if (listed.length > 0) volume.listedAt = now;
      else if (now - volume.listedAt > options.forgetAfterMs) this.#volumes.delete(guid);
    }
    return [];
  }

  #createVolume(id: string, guid: string): Volume {
    const { options } = this.#context;
    const ledgers = new Map(
      snapshotOperations.map((operation) => {
        return [operation, new SnapshotLedger(operation, this.#start, options.eventBucketsSeconds)];
      }),
    );
    const volume: Volume = { id, guid, name: guid, listed: [], serials: [], listedAt: 0, ledgers, tasks: [] };
    volume.tasks = [...ledgers].map(([operation, ledger]) => this.#createTask(volume, operation, ledger));
    return volume;
  }

  #createTask(volume: Volume, operation: SnapshotOperation, ledger: SnapshotLedger): Task {
    const { appliances, client, clock } = this.#context;
    const { segment, list } = operation;
    const path = `/telemetry/volumes/${volume.id}/${segment}`;
    const limit = new PeriodLimit();
    let succeededAt: number | undefined;
    const task = accountTask(this.#context, this.#settings, segment, async (reportDrop, signal) => {
      const serials = volume.serials.filter((serial) => appliances.find(serial) !== undefined);
      if (serials.length === 0) return { samples: [] };
      const now = clock.monotonic();
      // After an outage, the request covers the outage.
      const missedMs = succeededAt === undefined ? FIRST_PERIOD_MS : now - succeededAt + 2 * this.#settings.intervalMs;
      const wantedMs = Math.min(missedMs, MAX_PERIOD_MS);
      const { lengthMs, result: records } = await limit.request(wantedMs, async (periodMs) => {
        const json = { period: isoPeriod(periodMs), serial_numbers: serials, smart_sampling: false };
        const read = (body: unknown) => recordsOf(body, segment, reportDrop, list);
        return await client.send({ method: 'POST', path, operation: segment, purpose: 'series', json, read }, signal);
      });
      if (lengthMs < wantedMs) reportDrop('record', 'period');
      ledger.add(records, serials, reportDrop);
      succeededAt = now;
      const labelsOf = (serial: string) => ({
        volume_guid: volume.guid,
        volume: volume.name,
        serial,
        filer: appliances.nameOf(serial) ?? serial,
      });
      const samples = [...ledger.samples(labelsOf, reportDrop)];
      if (operation === snapshotPropagation) samples.push(...behindSamples(volume, serials, labelsOf));
      return { samples };
    });
    return { ...task, id: `portal/volume/${volume.guid}/${segment}` };
  }
}

/**
 * How many snapshots each appliance lacks: versions increase by one with each snapshot of a volume. An appliance that has
 * received no snapshot has no sample, because it is unknown what it received before the first request.
 */
function behindSamples(
  { ledgers }: Volume,
  serials: readonly string[],
  labelsOf: (serial: string) => Labels,
): readonly Sample[] {
  const made = ledgers.get(snapshotDetails);
  const received = ledgers.get(snapshotPropagation);
  const versions = serials.map((serial) => ({
    serial,
    made: made?.versionOf(serial) ?? 0,
    received: received?.versionOf(serial),
  }));
  const newest = versions.reduce((most, version) => Math.max(most, version.made, version.received ?? 0), 0);
  return versions.flatMap((version) => {
    if (version.received === undefined) return [];
    const value = newest - Math.max(version.made, version.received);
    return { name: versionsBehind.name, labels: labelsOf(version.serial), value };
  });
}

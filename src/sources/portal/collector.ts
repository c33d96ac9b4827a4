import type { Note } from '../../metrics/note.ts';
import type { Reading } from '../../metrics/snapshot.ts';
import type { Collector, Task } from '../../metrics/task.ts';
import { deadline } from '../../metrics/units.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Persisted } from '../../runtime/persisted.ts';
import { ApplianceIndex } from './appliances/appliance-index.ts';
import type { Appliance } from './appliances/inventory.ts';
import { InventoryCollector } from './appliances/inventory-collector.ts';
import { seriesTimestamp } from './appliances/series.ts';
import { TelemetryCollector } from './appliances/telemetry.ts';
import { UnitWatch } from './appliances/unit-watch.ts';
import type { PortalClient } from './client.ts';
import { type PortalParts, tasksOf } from './collector-row.ts';
import { chosenRows, portalTables } from './collectors.ts';
import type { PortalSettings } from './settings.ts';

export class PortalCollector implements Collector, Persisted {
  readonly api = 'portal';
  readonly parts: PortalParts;
  readonly inventory: InventoryCollector;
  readonly #collectors: readonly (() => readonly Task[])[];

  constructor(
    client: PortalClient,
    settings: PortalSettings,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    const parts: PortalParts = {
      client,
      clock,
      log,
      settings,
      appliances: new ApplianceIndex(settings, log),
      licence: { hasTelemetry: undefined },
      unitWatch: new UnitWatch(settings.units ?? [], log),
      persisted: new Map(),
    };
    const chosen = chosenRows(settings.collectors);
    const telemetry = new TelemetryCollector(parts);
    this.parts = parts;
    this.inventory = new InventoryCollector(parts);
    this.#collectors = [
      () => [this.inventory.task],
      ...chosen.map(({ row, intervalMs }) => tasksOf(row, parts, intervalMs)),
      () => telemetry.tasks(),
    ];
  }

  get appliances(): readonly Appliance[] {
    return this.parts.appliances.own;
  }

  get notes(): readonly Note[] {
    if (this.parts.licence.hasTelemetry !== false) return [];
    const message = 'The licence lacks ops_iq_premium: every telemetry series is forbidden (403).';
    return [{ code: 'licence', message }];
  }

  /** By the name of the collector. */
  state(): readonly [Readonly<Record<string, unknown>>] {
    return [Object.fromEntries([...this.parts.persisted].map(([name, one]) => [name, ...one.state()]))];
  }

  /** Drops the state of disabled collectors. */
  *restore([saved]: readonly unknown[], elapsedMs: number): Generator<void> {
    for (const [name, value] of Object.entries(saved as object)) {
      yield* this.parts.persisted.get(name)?.restore([value], elapsedMs) ?? [];
    }
  }

  tasks(): readonly Task[] {
    const { client } = this.parts;
    return this.#collectors
      .flatMap((tasks) => tasks())
      .map((task) => ({
        ...task,
        poll: async (signal) => withoutFuture(await task.poll(signal), client.now() / 1000),
      }));
  }
}

const MOMENTS: ReadonlySet<string> = new Set(
  [seriesTimestamp, ...portalTables.flatMap(({ families }) => families)]
    .filter(({ from }) => from.unit === 'timestamp_seconds' && from !== deadline)
    .map(({ name }) => name),
);

/** A time later than the answer's own counts as the answer's own; `now` in Unix seconds. */
function withoutFuture(reading: Reading, now: number): Reading {
  return {
    ...reading,
    samples: Array.from(reading.samples, (sample) => {
      const { name, value, at } = sample;
      const isAhead = MOMENTS.has(name) && value > now;
      if (!isAhead && (at === undefined || at <= now)) return sample;
      return { ...sample, value: isAhead ? now : value, at: at && Math.min(at, now) };
    }),
  };
}

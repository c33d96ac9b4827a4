import type { PollResult } from '../../contract/poll-result.ts';
import type { ServiceWarning } from '../../contract/service-warning.ts';
import type { Collector, Task } from '../../contract/task.ts';
import { believedTime } from '../../metrics/reported-time.ts';
import { futureDate } from '../../metrics/units.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { ApplianceIndex } from './appliances/appliance-index.ts';
import type { Appliance } from './appliances/inventory.ts';
import { InventoryCollector } from './appliances/inventory-collector.ts';
import { seriesTimestamp } from './appliances/series-families.ts';
import { TelemetryCollector } from './appliances/telemetry.ts';
import { UnitDetector } from './appliances/unit-detector.ts';
import type { PortalClient } from './client.ts';
import { createTasks, type PortalContext } from './collector-definition.ts';
import { enabledCollectors, portalTables } from './collectors.ts';
import type { PortalOptions } from './settings.ts';

export class PortalCollector implements Collector {
  readonly api = 'portal';
  readonly parts: PortalContext;
  readonly inventory: InventoryCollector;
  readonly #collectors: readonly (() => Iterable<Task>)[];

  constructor(
    client: PortalClient,
    settings: PortalOptions,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    const parts: PortalContext = {
      client,
      clock,
      log,
      settings,
      appliances: new ApplianceIndex(settings, log),
      licence: { hasTelemetry: undefined },
      unitWatch: new UnitDetector(settings.units ?? [], log),
      kept: [],
    };
    const chosen = enabledCollectors(settings.collectors);
    const telemetry = new TelemetryCollector(parts);
    this.parts = parts;
    this.inventory = new InventoryCollector(parts);
    this.#collectors = [
      () => [this.inventory.task],
      ...chosen.map(({ row, intervalMs }) => createTasks(row, parts, intervalMs)),
      () => telemetry.tasks(),
    ];
  }

  get appliances(): readonly Appliance[] {
    return this.parts.appliances.assigned;
  }

  get notes(): readonly ServiceWarning[] {
    if (this.parts.licence.hasTelemetry !== false) return [];
    const message = 'The licence lacks ops_iq_premium: every telemetry series is forbidden (403).';
    return [{ code: 'licence', message }];
  }

  *tasks(): Generator<Task> {
    const { client } = this.parts;
    for (const tasksOf of this.#collectors) {
      for (const task of tasksOf()) {
        yield {
          ...task,
          poll: async (signal, window) => withoutFuture(await task.poll(signal, window), client.now() / 1000),
        };
      }
    }
  }
}

const MOMENTS: ReadonlySet<string> = new Set(
  [seriesTimestamp, ...portalTables.flatMap(({ families }) => families)]
    .filter(({ from }) => from.unit === 'timestamp_seconds' && from !== futureDate)
    .map(({ name }) => name),
);

/** `now`: by the clock of the service, in Unix seconds. */
function withoutFuture(reading: PollResult, now: number): PollResult {
  return {
    ...reading,
    samples: Array.from(reading.samples, (sample) => {
      const { name, value, at } = sample;
      const isAhead = MOMENTS.has(name) && value > now;
      if (!isAhead && (at === undefined || at <= now)) return sample;
      return { ...sample, value: isAhead ? believedTime(value, now) : value, at: at && believedTime(at, now) };
    }),
  };
}

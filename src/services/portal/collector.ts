import type { PollResult } from '../../contract/poll-result.ts';
import type { ServiceWarning } from '../../contract/service-warning.ts';
import type { Collector, Task } from '../../contract/task.ts';
import { believedTime, futureDate } from '../../metrics/units.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { FilerNames } from '../filer-names.ts';
import { ApplianceIndex } from './appliances/appliance-index.ts';
import type { Appliance } from './appliances/inventory.ts';
import { InventoryCollector } from './appliances/inventory-collector.ts';
import { seriesTimestamp } from './appliances/series-families.ts';
import { TelemetryCollector } from './appliances/telemetry.ts';
import { missingLicence } from './causes.ts';
import type { PortalClient } from './client.ts';
import { createTasks, portalTables } from './collectors.ts';
import type { PortalContext, PortalOptions } from './context.ts';

export class PortalCollector implements Collector {
  readonly api = 'portal';
  readonly context: PortalContext;
  readonly inventory: InventoryCollector;
  readonly #collectors: readonly (() => Iterable<Task>)[];
  readonly #telemetry: TelemetryCollector;

  constructor(
    client: PortalClient,
    options: PortalOptions,
    { clock, log, names }: { readonly clock: Clock; readonly log: Log; readonly names?: FilerNames },
  ) {
    const context: PortalContext = {
      client,
      clock,
      log,
      options,
      appliances: new ApplianceIndex(options, log, names),
      licence: { hasTelemetry: undefined },
    };
    this.context = context;
    this.inventory = new InventoryCollector(context);
    this.#collectors = options.collectors.map((definition) => createTasks(definition, context));
    this.#telemetry = new TelemetryCollector(context);
  }

  get appliances(): readonly Appliance[] {
    return this.context.appliances.polled;
  }

  get warnings(): readonly ServiceWarning[] {
    return this.context.licence.hasTelemetry === false ? [missingLicence] : [];
  }

  *tasks(): Generator<Task> {
    const { appliances, client } = this.context;
    // Before the inventory has been read, samples would have other labels.
    const collected = appliances.isInventoryRead ? this.#collectors.map((tasksOf) => tasksOf()) : [];
    for (const tasks of [[this.inventory.task], ...collected, this.#telemetry.tasks()]) {
      for (const task of tasks) {
        const poll: Task['poll'] = async (signal, since) =>
          clampFutureTimes(await task.poll(signal, since), client.serviceClock.now() / 1000);
        yield { ...task, poll };
      }
    }
  }
}

const TIMESTAMP_FAMILIES: ReadonlySet<string> = new Set(
  [seriesTimestamp, ...portalTables.flatMap(({ families }) => families)]
    .filter(({ from }) => from.unit === 'timestamp_seconds' && from !== futureDate)
    .map(({ name }) => name),
);

/** Replaces times that are later than `now`, which is by the service's clock and in Unix seconds. */
function clampFutureTimes(result: PollResult, now: number): PollResult {
  const samples = Array.from(result.samples, (sample) => {
    const { name, value, at } = sample;
    const isInFuture = TIMESTAMP_FAMILIES.has(name) && value > now;
    if (!isInFuture && (at === undefined || at <= now)) return sample;
    return { ...sample, value: isInFuture ? now : value, at: at && believedTime(at, now) };
  });
  return { ...result, samples };
}

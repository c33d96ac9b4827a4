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
import type { PortalRequests } from './client.ts';
import { createTasks, enabledCollectors, portalTables } from './collectors.ts';
import type { PortalContext, PortalOptions } from './context.ts';

export class PortalCollector implements Collector {
  readonly api = 'portal';
  readonly context: PortalContext;
  readonly inventory: InventoryCollector;
  readonly #collectors: readonly (() => Iterable<Task>)[];

  constructor(
    client: PortalRequests,
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
      withoutFuture: (result) => clampFutureTimes(result, client.now() / 1000),
    };
    const chosen = enabledCollectors(options.collectors);
    const telemetry = new TelemetryCollector(context);
    this.context = context;
    this.inventory = new InventoryCollector(context);
    this.#collectors = [
      () => [this.inventory.task],
      ...chosen.map(({ definition, intervalMs }) => createTasks(definition, context, intervalMs)),
      () => telemetry.tasks(),
    ];
  }

  get appliances(): readonly Appliance[] {
    return this.context.appliances.polled;
  }

  get warnings(): readonly ServiceWarning[] {
    return this.context.licence.hasTelemetry === false ? [missingLicence] : [];
  }

  *tasks(): Generator<Task> {
    for (const tasksOf of this.#collectors) yield* tasksOf();
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

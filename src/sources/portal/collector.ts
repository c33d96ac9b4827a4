import type { HistogramSettings } from '../../metrics/histogram.ts';
import type { Collector, Task } from '../../metrics/task.ts';
import type { Variant } from '../../metrics/variant.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { Licence } from './account/licence.ts';
import { AccountDialect } from './appliances/account-dialect.ts';
import type { Appliance } from './appliances/inventory.ts';
import { InventoryCollector, type InventorySettings } from './appliances/inventory-collector.ts';
import { TelemetryCollector, type TelemetrySettings } from './appliances/telemetry.ts';
import type { PortalClient } from './client.ts';
import type { KeptCounts, PortalParts } from './collector-row.ts';
import { collectorRows } from './collectors.ts';

const DAY_MS = 86_400_000;

/** What is polled of the portal, and how often. */
export interface PortalSettings extends InventorySettings, TelemetrySettings {
  /** The collectors beside the series that are switched on, each with its own interval in milliseconds. */
  readonly collectors: readonly { readonly name: string; readonly intervalMs: number }[];
  readonly histograms: HistogramSettings;
  /** What is counted stays for so long after the last sign of what it is about, in milliseconds; a day unless told. */
  readonly forgetAfterMs?: number;
}

/** What the portal's collectors keep over restarts, by name. */
export type PortalState = Readonly<Record<string, unknown>>;

/** What polls the portal: the inventory, the series of the appliances in it, and every collector that is switched on. */
export class PortalCollector implements Collector {
  readonly api = 'portal';
  readonly #inventory: InventoryCollector;
  readonly #parts: readonly (() => readonly Task[])[];
  readonly #licence: Licence;
  readonly #dialect: AccountDialect;
  readonly #kept = new Map<string, KeptCounts>();

  constructor(
    client: PortalClient,
    settings: PortalSettings,
    { clock, log }: { readonly clock: Clock; readonly log: Log },
  ) {
    const { shard, discoveryIntervalMs, histograms, forgetAfterMs = DAY_MS } = settings;
    const chosen = settings.collectors.flatMap(({ name, intervalMs }) => {
      const row = collectorRows.find((one) => one.name === name);
      return row === undefined ? [] : [{ row, intervalMs }];
    });
    const readouts = chosen.flatMap(({ row }) => row.readout ?? []);
    const inventory = new InventoryCollector(client, settings, readouts, { clock, log });
    const licence = new Licence(client, clock, log);
    const dialect = new AccountDialect(log);
    const parts: PortalParts = {
      ...{ client, clock, log, licence, dialect, shard, discoveryIntervalMs, histograms, forgetAfterMs },
      appliances: inventory,
      keeps: (name, kept) => this.#kept.set(name, kept),
    };
    const telemetry = new TelemetryCollector(parts, settings);
    this.#inventory = inventory;
    this.#licence = licence;
    this.#dialect = dialect;
    this.#parts = [
      () => inventory.tasks(),
      ...chosen.map(({ row, intervalMs }) => row.create(parts, intervalMs)),
      () => telemetry.tasks(),
    ];
  }

  /** The appliances that this instance polls: those chosen, of its own shard. */
  get appliances(): readonly Appliance[] {
    return this.#inventory.own();
  }

  /** What the account's answers show of the units that the documentation leaves open. */
  get variants(): readonly Variant[] {
    return this.#dialect.variants;
  }

  /** What explains much that would puzzle an operator, in whole sentences. */
  get notes(): readonly string[] {
    const unlicensed = this.#licence.hasTelemetry === false;
    const licence = unlicensed ? ['The licence lacks ops_iq_premium: every telemetry series is forbidden (403).'] : [];
    return [...licence, ...this.#dialect.notes];
  }

  /** What is known of the account's licence. */
  get licence(): Licence {
    return this.#licence;
  }

  /** What the inventory says of an appliance; undefined of one that it does not have. */
  describe(serial: string): Appliance | undefined {
    return this.#inventory.find(serial);
  }

  /** Reads the inventory now and counts the appliances of this instance. Rejects as a poll of it would. */
  async countAppliances(signal: AbortSignal): Promise<number> {
    await this.#inventory.discover(signal);
    return this.appliances.length;
  }

  /** What the collectors keep over restarts, by name; empty where none that is switched on keeps anything. */
  state(): PortalState {
    return Object.fromEntries([...this.#kept].map(([name, kept]) => [name, kept.state()]));
  }

  /**
   * Reads what the process before this one kept, `elapsedMs` ago, and returns what goes on from there; what a collector
   * that is off had kept is dropped. Throws where it cannot be used, and has taken nothing then.
   */
  restore(saved: PortalState, elapsedMs: number): () => void {
    const adoptions = [...this.#kept].flatMap(([name, kept]) =>
      saved[name] === undefined ? [] : [kept.restore(saved[name], elapsedMs)],
    );
    return () => {
      for (const adopt of adoptions) adopt();
    };
  }

  tasks(): readonly Task[] {
    return this.#parts.flatMap((tasksOf) => tasksOf());
  }
}

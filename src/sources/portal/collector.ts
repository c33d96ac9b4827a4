import type { HistogramSettings } from '../../metrics/histogram.ts';
import type { Collector, Task } from '../../metrics/task.ts';
import type { Variant } from '../../metrics/variant.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { TelemetryLicence } from './account/telemetry-licence.ts';
import { Dialect } from './appliances/dialect.ts';
import type { Appliance } from './appliances/inventory.ts';
import { InventoryCollector, type InventorySettings } from './appliances/inventory-collector.ts';
import { TelemetryCollector, type TelemetrySettings } from './appliances/telemetry.ts';
import type { PortalClient } from './client.ts';
import type { KeptCounts, PortalParts } from './collector-row.ts';
import { collectorRows } from './collectors.ts';

const DAY_MS = 86_400_000;

/** What is polled of the portal, and how often. */
export interface PortalSettings extends InventorySettings, TelemetrySettings {
  /** The enabled collectors besides the series, each with its own interval in milliseconds. */
  readonly collectors: readonly { readonly name: string; readonly intervalMs: number }[];
  readonly histograms: HistogramSettings;
  /** What is counted stays for so long after the last sign of what it is about, in milliseconds; a day unless told. */
  readonly forgetAfterMs?: number;
}

/** The state that the portal's collectors save, by name. */
export type PortalState = Readonly<Record<string, unknown>>;

/** Polls the portal: the inventory, the series of its appliances, and every enabled collector. */
export class PortalCollector implements Collector {
  readonly api = 'portal';
  readonly #inventory: InventoryCollector;
  readonly #parts: readonly (() => readonly Task[])[];
  readonly #licence: TelemetryLicence;
  readonly #dialect: Dialect;
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
    const licence = new TelemetryLicence(client, clock, log);
    const dialect = new Dialect(log);
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

  /** The chosen appliances of this instance's shard. */
  get appliances(): readonly Appliance[] {
    return this.#inventory.own();
  }

  /** The units detected in the account's answers where the documentation leaves them open. */
  get variants(): readonly Variant[] {
    return this.#dialect.variants;
  }

  /** Explanations of unexpected values for the operator, in whole sentences. */
  get notes(): readonly string[] {
    const unlicensed = this.#licence.hasTelemetry === false;
    const licence = unlicensed ? ['The licence lacks ops_iq_premium: every telemetry series is rejected (403).'] : [];
    return [...licence, ...this.#dialect.notes];
  }

  get licence(): TelemetryLicence {
    return this.#licence;
  }

  /** An appliance in the inventory; undefined for others. */
  describe(serial: string): Appliance | undefined {
    return this.#inventory.find(serial);
  }

  /** Reads the inventory now and returns the number of appliances of this instance. Rejects as a poll of it would. */
  async countAppliances(signal: AbortSignal): Promise<number> {
    await this.#inventory.discover(signal);
    return this.appliances.length;
  }

  /** The collectors' state to save, by name; empty if no enabled collector has any. */
  state(): PortalState {
    return Object.fromEntries([...this.#kept].map(([name, kept]) => [name, kept.state()]));
  }

  /**
   * Reads a state saved `elapsedMs` ago and returns the function that applies it; drops the state of disabled
   * collectors. Throws if the state cannot be used, and has changed nothing then.
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

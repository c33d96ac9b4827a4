import type { Clock } from '../../src/runtime/clock.ts';
import type { WholeAnswer } from '../support/memory-dispatcher.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What the services delivered: when they told what, and each thing that is counted, once. */
export class Deliveries {
  readonly #clock: Clock;
  /** When the newest record of a series, and the moment of an answer of `/data`, was last told; by its time in Unix seconds. */
  readonly #series = new Map<string, Map<number, number>>();
  readonly #data = new Map<number, number>();
  /** When a series of any appliance was last answered, with records or without; and since when all of them are denied. */
  readonly #reported = new Map<string, number>();
  #answeredAt = Number.NEGATIVE_INFINITY;
  #deniedSince: number | undefined;
  #refused: number[] = [];
  /** What the newest answer about the licence says of the telemetry series, and when it came. */
  #licence: { readonly at: number; readonly hasTelemetry: boolean } | undefined;
  /** Of each filer and volume, when it checked in by the newest answer that names it. */
  readonly #checkIns = new Map<string, readonly number[]>();
  readonly #locks = new Set<string>();
  readonly #propagations = new Set<string>();
  readonly #jobs = new Set<string>();
  readonly #notifications = new Set<string>();
  readonly #snapshots = new Set<string>();
  /** From when on notifications and snapshots may be counted, in epoch milliseconds: since it was started. */
  #since = Number.POSITIVE_INFINITY;
  /** The jobs that had ended when the exporter first asked are history. */
  #history: ReadonlySet<string> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** An answer arrived whole. */
  take(path: string, { status, body: bytes, date }: WholeAnswer): void {
    const isSeries = path.startsWith('/portal/telemetry/appliances/');
    if (isSeries && status === 403) this.#deniedSince ??= this.#clock.monotonic();
    if (isSeries && status === 200) this.#deniedSince = undefined;
    if (status === 429) this.#refused.push(this.#clock.monotonic());
    if (status !== 200) return;
    const body = jsonOf(bytes);
    if (typeof body !== 'object' || body === null) return;
    if (path.endsWith('/portal/account/license'))
      this.#licence = { at: this.#clock.monotonic(), hasTelemetry: (body as Fields).ops_iq_premium === true };
    if (path.includes('/gfa/v1/data')) this.#takeData(body as Fields);
    if (/\/portal\/jobs(?:\?|$)/.test(path)) this.#takeJobs(body as Fields);
    if (/\/portal\/notifications(?:\?|$)/.test(path)) this.#takeNotifications(body as Fields);
    if (/\/snapshot_details(?:\?|$)/.test(path)) this.#takeSnapshots(body as Fields);
    const [, serial, series] = /\/telemetry\/appliances\/([^/]+)\/([^/?]+)$/.exec(path) ?? [];
    if (series === undefined || !Array.isArray((body as Fields).items)) return;
    this.#answeredAt = this.#clock.monotonic();
    const newestRecord = newestTime(body as Fields);
    if (newestRecord === undefined) return;
    const key = `${serial}/${series}`;
    const times = this.#series.get(key) ?? new Map<number, number>();
    this.#series.set(key, times.set(newestRecord, this.#answeredAt));
    // A time ahead is shown as the time of the service, which is measured to the second, over several answers.
    if (newestRecord > date) times.set(date, this.#answeredAt);
    this.#reported.set(key.split('/')[0] ?? '', this.#answeredAt);
  }

  /** When it was told last that the newest record of a series is of that time; monotonic milliseconds. */
  seriesTold(key: string, time: number): number {
    let told = Number.NEGATIVE_INFINITY;
    for (const [at, answeredAt] of this.#series.get(key) ?? []) {
      if (Math.abs(at - time) <= 1) told = Math.max(told, answeredAt);
    }
    return told;
  }

  /** When any series of the appliance last had a record; monotonic milliseconds. */
  lastReported(serial: string): number {
    return this.#reported.get(serial) ?? Number.NEGATIVE_INFINITY;
  }

  /** Whether a series ever had a record. */
  hasTold(key: string): boolean {
    return this.#series.has(key);
  }

  /** When `/data` told that it is that time; monotonic milliseconds. */
  dataTold(time: number): number {
    return this.#data.get(time) ?? Number.NEGATIVE_INFINITY;
  }

  /** When `/data` told anything last; monotonic milliseconds. */
  get dataAt(): number {
    return Math.max(Number.NEGATIVE_INFINITY, ...[...this.#data.values()].slice(-1));
  }

  /** When a series of any appliance was last answered; monotonic milliseconds. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Since when every series is denied; monotonic milliseconds. */
  get deniedSince(): number | undefined {
    return this.#deniedSince;
  }

  get licence(): { readonly at: number; readonly hasTelemetry: boolean } | undefined {
    return this.#licence;
  }

  /** How many requests were rejected by limits in the last so many milliseconds. */
  refused(lastMs: number): number {
    const from = this.#clock.monotonic() - lastMs;
    this.#refused = this.#refused.filter((at) => at > from);
    return this.#refused.length;
  }

  /** When a filer checked in, on a volume or not, by the newest answer that names it; Unix seconds. */
  checkIns(filer: string, volume: string): readonly number[] {
    return this.#checkIns.get(`${filer}/${volume}`) ?? [];
  }

  /** The exporter was started again. */
  restarted(isKept: boolean): void {
    this.#history = undefined;
    this.#jobs.clear();
    if (!isKept || this.#since === Number.POSITIVE_INFINITY) this.#since = this.#clock.now() - SLACK_MS;
    if (isKept) return;
    this.#notifications.clear();
    this.#snapshots.clear();
    this.#locks.clear();
    this.#propagations.clear();
  }

  /** By name of the count, the most that it may be. */
  counts(): Readonly<Record<string, number>> {
    return {
      filer_lock_events_total: this.#locks.size,
      filer_propagation_duration_seconds_count: this.#propagations.size,
      filer_jobs_finished_total: this.#jobs.size,
      filer_notifications_total: this.#notifications.size,
      filer_notifications_by_severity_total: this.#notifications.size,
      filer_snapshots_total: this.#snapshots.size,
    };
  }

  #takeData({ info, metrics }: Fields): void {
    const requested = Date.parse(String((info as Fields | undefined)?.request_time)) / 1000;
    this.#data.set(requested, this.#clock.monotonic());
    const parts = (Array.isArray(metrics) ? metrics : [metrics]) as readonly (Fields | undefined)[];
    this.#takeFilers(
      parts.flatMap((part) => (part?.filers ?? []) as readonly Fields[]),
      requested,
    );
    for (const part of parts) {
      for (const record of (part?.locks ?? []) as readonly Fields[]) this.#locks.add(identity(record));
      for (const record of (part?.propagation ?? []) as readonly Fields[]) this.#propagations.add(identity(record));
    }
  }

  /** A record dated later than its answer is of the moment of the answer. */
  #takeFilers(filers: readonly Fields[], requested: number): void {
    const said = new Map<string, number[]>();
    for (const { filer_guid, volume_guid = '', timestamp, last_checkin } of filers) {
      const at = Math.min(Date.parse(String(timestamp)) / 1000, requested) - Number(last_checkin);
      const key = `${filer_guid}/${volume_guid}`;
      said.set(key, [...(said.get(key) ?? []), at]);
    }
    for (const [key, times] of said) this.#checkIns.set(key, times);
  }

  #takeNotifications({ items }: Fields): void {
    for (const { id, generated_at } of (items ?? []) as readonly Fields[]) {
      if (Date.parse(String(generated_at)) >= this.#since) this.#notifications.add(String(id));
    }
  }

  #takeSnapshots({ items }: Fields): void {
    for (const { volume, serial_number, time, volume_version } of (items ?? []) as readonly Fields[]) {
      if (Number(time) >= this.#since) this.#snapshots.add(`${volume} ${serial_number} ${volume_version}`);
    }
  }

  #takeJobs({ items }: Fields): void {
    const ended = ((items ?? []) as readonly Fields[])
      .filter(({ state }) => state === 'completed' || state === 'failed')
      .map(({ id }) => String(id));
    this.#history ??= new Set(ended);
    for (const id of ended) if (!this.#history.has(id)) this.#jobs.add(id);
  }
}

/** By so much the moment of the start may be missed, in milliseconds. */
const SLACK_MS = 60_000;

/** What an event is, whatever its filer and volume are called. */
function identity({ filer_title, volume_title, ...event }: Fields): string {
  return JSON.stringify(event);
}

/** The time of the newest record that holds a value, in Unix seconds. */
function newestTime({ items }: Fields): number | undefined {
  if (!Array.isArray(items)) return undefined;
  const times = (items as readonly Fields[])
    .filter((item) => Object.entries(item).some(([field, value]) => field !== 'time' && value !== null))
    .map(({ time }) => Number(time) / 1000);
  return times.length === 0 ? undefined : Math.max(...times);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

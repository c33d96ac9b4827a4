import type { Fields } from '../../../metrics/family.ts';
import { flag } from '../../../metrics/units.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { RequestError } from '../../../runtime/errors.ts';
import type { Log } from '../../../runtime/log.ts';
import { meaningOfError } from '../../../runtime/statuses.ts';
import type { ApiRequest } from '../../../transport/client.ts';
import type { PortalClient } from '../client.ts';
import { objectOf } from '../records.ts';

/** After a 403 the licence is read again if it was last read longer ago than this, in milliseconds. */
const OLD_AFTER_MS = 300_000;

const REQUEST = { method: 'GET', path: '/account/license', operation: 'account_license', priority: 'ahead' } as const;

/**
 * The account's licence. Without `ops_iq_premium` the portal answers every telemetry series with 403, which looks like
 * a missing right, so the licence is checked first.
 */
export class TelemetryLicence {
  readonly #client: PortalClient;
  readonly #clock: Clock;
  readonly #log: Log;
  #hasTelemetry: boolean | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(client: PortalClient, clock: Clock, log: Log) {
    this.#client = client;
    this.#clock = clock;
    this.#log = log;
  }

  /** Whether it covers the telemetry series; undefined while unknown. */
  get hasTelemetry(): boolean | undefined {
    return this.#hasTelemetry;
  }

  take({ ops_iq_premium }: Fields): void {
    this.#readAt = this.#clock.monotonic();
    const premium = flag.read(ops_iq_premium);
    const before = this.#hasTelemetry;
    this.#hasTelemetry = premium === undefined ? undefined : premium === 1;
    if (this.#hasTelemetry === false && before !== false) {
      this.#log.warn('licence lacks ops_iq_premium: telemetry is forbidden (403)');
    } else if (this.#hasTelemetry && before === false) this.#log.info('licence has ops_iq_premium now');
  }

  /** Sends a telemetry request. If it is rejected without the licence, the error has that as its reason. */
  async send(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    try {
      const body = await this.#client.send(request, signal);
      // The licence covers it, even if an earlier answer says otherwise.
      if (this.#hasTelemetry === false) this.#hasTelemetry = undefined;
      return body;
    } catch (error) {
      throw await this.#explained(error, signal);
    }
  }

  /** Never rejects. */
  async #explained(error: unknown, signal: AbortSignal): Promise<unknown> {
    if (!(error instanceof RequestError) || meaningOfError(error, 'series').reason !== 'forbidden') return error;
    if (this.#clock.monotonic() - this.#readAt > OLD_AFTER_MS) {
      // Without the right to read the licence there is no explanation; the next 403 tries again.
      this.#reading ??= this.#read(signal).catch(() => {});
    }
    await this.#reading;
    this.#reading = undefined;
    if (this.#hasTelemetry !== false) return error;
    return new RequestError('status', `${error.message}: the licence lacks ops_iq_premium`, {
      status: 403,
      cause: error,
    });
  }

  async #read(signal: AbortSignal): Promise<void> {
    this.#readAt = this.#clock.monotonic();
    this.take(objectOf(await this.#client.send(REQUEST, signal), 'GET /account/license'));
  }
}

import type { Fields } from '../../../metrics/family.ts';
import { flag } from '../../../metrics/units.ts';
import { RequestError } from '../../../runtime/errors.ts';
import { meaningOfError } from '../../../runtime/statuses.ts';
import type { ApiRequest } from '../../../transport/client.ts';
import type { PortalClient } from '../client.ts';

/**
 * The account's licence. Without `ops_iq_premium` the portal answers every telemetry series with 403, which looks like
 * a missing right: the first 403 makes the collector `license` read it.
 */
export class TelemetryLicence {
  readonly #client: PortalClient;
  #hasTelemetry: boolean | undefined;

  constructor(client: PortalClient) {
    this.#client = client;
  }

  get hasTelemetry(): boolean | undefined {
    return this.#hasTelemetry;
  }

  take({ ops_iq_premium }: Fields): void {
    const premium = flag.read(ops_iq_premium);
    this.#hasTelemetry = premium === undefined ? undefined : premium === 1;
  }

  /** Sends a telemetry request. If it is rejected without the licence, the error has that as its reason. */
  async send(request: ApiRequest, signal: AbortSignal): Promise<unknown> {
    try {
      const body = await this.#client.send(request, signal);
      // The licence covers it, even if an earlier answer says otherwise.
      if (this.#hasTelemetry === false) this.#hasTelemetry = undefined;
      return body;
    } catch (error) {
      const isForbidden = meaningOfError(error, 'series').reason === 'forbidden';
      if (!(error instanceof RequestError) || !isForbidden || this.#hasTelemetry !== false) throw error;
      const message = `${error.message}: the licence lacks ops_iq_premium`;
      throw new RequestError('status', message, { status: 403, cause: error });
    }
  }
}

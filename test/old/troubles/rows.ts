import type { MockServices, SimulatedFailure } from '../../src/demo/mock-services.ts';
import type { Condition } from '../doctor/simulated-visit.ts';

/** A trouble of a site: what the doctor says of it, and the next step that everything has to name. */
export interface Trouble extends Condition {
  /** What is wrong, in an operator's words. */
  readonly what: string;
  /** Every line of the doctor that is not ok, as `level service check result`. */
  readonly complaints: readonly string[];
  /** Begins what to do. */
  readonly step?: string;
  /** What the response says is missing. */
  readonly right?: string;
  /** Another exporter polls file acceleration with a client key of its own, so that this one misses events. */
  readonly hasAnother?: true;
  /** Why no request arrives; undefined if they do. */
  readonly failure?: Error;
  /** Only the doctor can see it. */
  readonly isUnseen?: true;
  /** About appliances: the alert says that the page has the step. */
  readonly isOfAppliance?: true;
}

export const fault = (failure: SimulatedFailure) => (services: MockServices) => void services.fail(failure);
export const status = (code: number, scope: Partial<SimulatedFailure> = {}) =>
  fault({ kind: 'status', status: code, ...scope } as SimulatedFailure);
export const body = (operation: string | RegExp, content: unknown) =>
  fault({ kind: 'body', body: typeof content === 'string' ? content : JSON.stringify(content), operation });
export const ofFirst = (failure: SimulatedFailure) => (services: MockServices) =>
  void services.fail({ ...failure, serial: services.fleet.appliances[0]?.serial ?? '' });

export const PORTAL = /^(?!data$)/;
export const THROTTLED = 'lower the request rate of the other tools that use the limits of this account';
const WAIT = 'wait; if it lasts, ask the operator of the service and attach a report (--doctor --report FILE)';

/** Those of docs/failures.md, in its order. A daemon with the defaults lives through them. */
export const pageTroubles: readonly Trouble[] = [
  {
    what: 'one appliance: every request about it returns 500',
    before: ofFirst({ kind: 'status', status: 500 }),
    complaints: ['failure portal appliances 500'],
    step: WAIT,
    isOfAppliance: true,
  },
  {
    what: 'one appliance: requests about it return 429, those about the others do not',
    before: ofFirst({ kind: 'status', status: 429, headers: { 'retry-after': '5' } }),
    complaints: ['failure portal appliances 429', 'warning portal limits rejected'],
  },
  {
    what: 'one appliance is off: the portal has no records of it',
    before: ofFirst({ kind: 'body', body: '{"items":[]}' }),
    complaints: ['warning portal appliances silent'],
  },
  {
    what: 'all telemetry returns 403: the licence or the right is missing',
    variations: { opsIqPremium: false },
    complaints: ['failure portal licence no-telemetry'],
  },
  {
    what: 'the list of edges returns 403',
    before: status(403, { operation: 'edges' }),
    complaints: ['failure portal inventory edges-forbidden'],
  },
  {
    what: 'the fleet becomes empty, or the role sees nothing: every list of appliances is empty',
    before: body(/^(?:serials|edges)$/, { items: [] }),
    complaints: ['failure portal inventory all-empty'],
    step: 'check that the role of this key may see all appliances',
  },
  {
    what: 'the list of serials is empty, and that of edges is not',
    before: body('serials', { items: [] }),
    complaints: ['warning portal inventory edge-serials-empty'],
  },
  {
    what: 'the list of serials returns 500, and that of edges does not',
    before: status(500, { operation: 'serials' }),
    complaints: [
      'failure portal inventory edge-serials-server-error',
      'failure portal inventory file-iq-serials-server-error',
    ],
  },
  {
    what: 'the portal returns 503 to everything',
    before: status(503, { operation: PORTAL }),
    complaints: ['failure portal token status-503'],
    step: WAIT,
  },
  {
    what: 'the portal rejects the credentials',
    before: status(401, { operation: PORTAL }),
    complaints: ['failure portal credentials rejected'],
    step: 'check PORTAL_SERVICE_KEY and PORTAL_SERVICE_SECRET, or PORTAL_USER_KEY: complete, not revoked',
  },
  {
    what: 'the token at hand is rejected, and the request for another returns 503',
    before: (services) => {
      status(503, { operation: 'token' })(services);
      status(401, { operation: PORTAL })(services);
    },
    complaints: ['failure portal token status-503'],
  },
  {
    what: 'the token at hand is rejected, and the request for another returns 429',
    before: (services) => {
      status(429, { operation: 'token' })(services);
      status(401, { operation: PORTAL })(services);
    },
    complaints: ['failure portal token status-429', 'warning portal limits rejected'],
  },
  {
    what: 'data comes late: other tools use the limit of the account, which has one request in 15 s left',
    variations: { rateLimit: { kind: 'fixed-window', requests: 1, windowMs: 15_000 } },
    complaints: ['warning portal token refresh-429', 'warning portal limits rejected'],
  },
  {
    what: 'the account is throttled: the portal returns 429 without Retry-After',
    before: status(429, { operation: PORTAL }),
    complaints: ['failure portal token status-429', 'warning portal limits rejected'],
    step: THROTTLED,
  },
  {
    what: 'the file acceleration service returns 500',
    before: status(500, { operation: 'data' }),
    complaints: ['failure gfa data status-500'],
  },
  {
    what: 'the file acceleration service rejects the token',
    before: status(401, { operation: 'data' }),
    complaints: ['failure gfa credentials rejected'],
    step: 'check GFA_TOKEN: it must be the complete key that the portal issued, not revoked',
  },
  {
    what: 'the file acceleration service knows no volume of the account (406)',
    before: status(406, { operation: 'data' }),
    complaints: ['failure gfa data status-406'],
  },
  {
    what: 'the file acceleration service does not know the client key header, and another exporter polls it',
    variations: { clientKeyHeader: 'X-Other-client-key' },
    hasAnother: true,
    complaints: ['failure gfa client-key ignored'],
    step: 'set GFA_CLIENT_KEY_HEADER',
  },
  {
    what: 'the clock of this machine is ten minutes behind',
    variations: { clockAheadMs: 600_000 },
    complaints: ['warning gfa clock skewed', 'warning portal clock skewed'],
    step: 'set the clock of this machine, for instance by NTP',
  },
  {
    what: 'one series of all appliances returns 500',
    before: status(500, { operation: 'cpu_utilization' }),
    complaints: ['failure portal operations cpu_utilization-500'],
  },
];

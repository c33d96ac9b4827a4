import type { MockServices, SimulatedFailure } from '../../src/demo/mock-services.ts';
import { proxyRejection } from '../../src/transport/connection-errors.ts';
import { type Condition, healthyNetwork } from '../doctor/simulated-visit.ts';

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

const fault = (failure: SimulatedFailure) => (services: MockServices) => void services.fail(failure);
const status = (code: number, scope: Partial<SimulatedFailure> = {}) =>
  fault({ kind: 'status', status: code, ...scope } as SimulatedFailure);
const body = (operation: string | RegExp, content: unknown) =>
  fault({ kind: 'body', body: typeof content === 'string' ? content : JSON.stringify(content), operation });
const ofFirst = (failure: SimulatedFailure) => (services: MockServices) =>
  void services.fail({ ...failure, serial: services.fleet.appliances[0]?.serial ?? '' });
const lacking = (right: string, operation: string | RegExp) =>
  status(403, { operation, body: JSON.stringify({ message: `User lacks permission ${right}` }) });

const PORTAL = /^(?!data$)/;
const SERIES = /_(?:utilization|details|misses|iops|time|latency|average|connections|score|performance)$/;
const PAGE = '<html>Sign in</html>';
const HTML = { 'content-type': 'text/html' };
const NO_EVENTS = [{ filers: [], volumes: [], locks: [], propagation: [] }];
const THROTTLED = 'lower the request rate of the other tools that use the limits of this account';
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

const failed = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });
const failing = (code: string) => Promise.reject(failed(code));
const unreachable = (error: Error) => ({ ...healthyNetwork, handshake: () => Promise.reject(error) });
const distrusted = (fault: string) => ({
  ...healthyNetwork,
  handshake: async () => ({ fault, endsAt: undefined, protocol: 'TLSv1.3' }),
});
const remote = { PORTAL_URL: 'https://portal.example.com', GFA_URL: 'https://gfa.example.com/v1' };

/** Every trouble. */
export const troubles: readonly Trouble[] = [
  ...pageTroubles,
  {
    what: 'the secret of the portal is wrong',
    environment: { PORTAL_SERVICE_SECRET: '00000000-0000-4000-8000-000000000000' },
    complaints: ['failure portal credentials rejected'],
  },
  {
    what: 'the account takes another form of the credentials',
    variations: { authForms: ['service_key'] },
    complaints: ['failure portal credentials other-form'],
  },
  {
    what: 'the token service is down',
    before: fault({ operation: 'token', kind: 'reset' }),
    complaints: ['failure portal token no-token'],
    step: 'check the firewall, and host and port in PORTAL_URL',
  },
  {
    what: 'the response to the request for a token has no token',
    before: body('token', {}),
    complaints: ['failure portal token no-token'],
    step: 'check PORTAL_URL, the base address of the account’s region',
  },
  {
    what: 'no token can be refreshed',
    variations: { refreshes: false },
    complaints: ['warning portal token refresh-404'],
  },
  {
    what: 'the key of file acceleration needs the word Bearer',
    variations: { bearer: true },
    complaints: ['failure gfa credentials other-form'],
    step: 'the word Bearer',
  },
  {
    what: 'the client key is sent in a header that the service does not know',
    variations: { clientKeyHeader: 'X-Nasuni-client-key' },
    complaints: ['failure gfa client-key other-header'],
  },
  {
    what: 'the service does not know the header of the client key, while no event happens',
    variations: { clientKeyHeader: 'X-Other-client-key' },
    before: body('data', { version: 1, metrics: NO_EVENTS, info: {} }),
    complaints: ['warning gfa client-key untold', 'warning gfa data no-filers'],
    isUnseen: true,
    step: 'run the doctor again once files of an accelerated volume have changed',
  },
  {
    what: 'the path of the base URL of file acceleration is wrong',
    before: status(404, { operation: 'data' }),
    complaints: ['failure gfa data status-404'],
  },
  {
    what: 'the role may not read telemetry',
    environment: { PORTAL_SERIES: undefined },
    before: lacking('can_view_appliance_dashboard', SERIES),
    complaints: ['failure portal operations telemetry-403', 'failure portal operations volume_connections-403'],
    step: 'give the role the right',
    right: 'can_view_appliance_dashboard',
  },
  {
    what: 'one series returns 403',
    before: lacking('can_view_cache_statistics', 'cache_hits_misses'),
    complaints: ['failure portal operations telemetry-403'],
    step: 'give the role the right, or the account the licence, that the response names, or set PORTAL_SERIES=-cache_hits_misses',
    right: 'can_view_cache_statistics',
  },
  {
    what: 'an operation of the account returns 403',
    before: lacking('can_view_account_license', 'license'),
    complaints: ['failure portal operations account_license-403'],
    step: 'give the role the right, or the account the licence, that the response names, or set PORTAL_COLLECTORS=-license',
    right: 'can_view_account_license',
  },
  {
    what: 'the role may not read one operation',
    variations: { forbidden: ['jobs'] },
    complaints: ['failure portal operations jobs-403'],
  },
  {
    what: 'one operation is not there',
    before: status(404, { operation: 'jobs' }),
    complaints: ['failure portal operations jobs-404'],
    step: 'set PORTAL_COLLECTORS=-jobs',
    isUnseen: true,
  },
  {
    what: 'one appliance returns 404',
    before: ofFirst({ kind: 'status', status: 404 }),
    complaints: ['failure portal appliances 404'],
    isOfAppliance: true,
    step: 'check in the portal that it is in use',
  },
  {
    what: 'requests about one appliance time out',
    before: ofFirst({ kind: 'hang' }),
    environment: { REQUEST_TIMEOUT: '10s' },
    complaints: ['failure portal appliances timeout'],
    isOfAppliance: true,
    step: 'wait; if the service is always so slow, raise REQUEST_TIMEOUT',
  },
  {
    what: 'an appliance has no such series, which is no failure',
    before: status(404, { operation: 'load_average', times: 1 }),
    complaints: [],
  },
  {
    what: 'the portal returns 429 with Retry-After',
    before: status(429, { operation: PORTAL, headers: { 'retry-after': '5' } }),
    complaints: ['failure portal token status-429', 'warning portal limits rejected'],
    step: THROTTLED,
  },
  {
    what: 'another tool uses up the limit',
    before: status(429, { operation: 'jobs', times: 1 }),
    complaints: ['warning portal limits rejected'],
  },
  {
    what: 'the path is wrong, and a page with 404 comes',
    before: status(404, { operation: PORTAL, headers: HTML, body: PAGE }),
    complaints: ['failure portal token status-404'],
    step: 'check PORTAL_URL, the base address of the account’s region',
  },
  {
    what: 'a login page comes with 200',
    before: fault({ kind: 'body', body: PAGE, contentType: 'text/html', operation: PORTAL }),
    complaints: ['failure portal token no-token'],
    step: 'name its host in NO_PROXY, or let the proxy pass it without a login',
  },
  {
    what: 'a login page comes by a redirect',
    before: status(302, {
      operation: PORTAL,
      headers: { ...HTML, location: 'https://login.example.com/' },
      body: PAGE,
    }),
    complaints: ['failure portal token status-302'],
    step: 'name its host in NO_PROXY, or let the proxy pass it without a login',
  },
  {
    what: 'a body is too large',
    before: body('serials', ' '.repeat(100_000)),
    environment: { MAX_RESPONSE_BYTES: '50000' },
    complaints: [
      'failure gfa data status-none',
      'failure portal operations jobs-failed',
      'failure portal inventory edge-serials-oversize',
      'failure portal inventory file-iq-serials-oversize',
      'warning portal size large',
    ],
    step: 'raise MAX_RESPONSE_BYTES',
  },
  {
    what: 'the ids of the two services do not match, and the names do',
    variations: { filerGuids: 'own' },
    complaints: ['warning names filer-ids apart'],
  },
  {
    what: 'two appliances have one name',
    before: ({ fleet, renameAppliance }) => {
      for (const { serial } of fleet.appliances.slice(0, 2)) renameAppliance(serial, 'edge-twin');
    },
    complaints: ['warning names filer-names not-unique'],
  },
  {
    what: 'an alias names no filer',
    environment: { FILER_ALIASES: '11111111-1111-4111-8111-111111111111=somewhere' },
    complaints: ['warning names aliases unmatched'],
  },
  {
    what: 'shares are sent as fractions',
    variations: { ratioUnit: 'ratio' },
    complaints: ['warning portal ratio_unit ratio'],
    step: 'set PORTAL_UNITS=ratio',
  },
  {
    what: 'no memory tells whether shares are percent, and processors do',
    before: body('memory_utilization_details', { items: [] }),
    complaints: [],
  },
  {
    what: 'a series has records of a date and a value',
    before: body('cpu_utilization', { items: [{ time: '2026-01-13T10:00:00Z', value: 5.2 }] }),
    complaints: ['failure portal operations series-value', 'warning portal form unexpected'],
  },
  {
    what: 'a field holds words where numbers are documented',
    before: body('cpu_utilization', { items: [{ time: 1_772_445_300_000, cpu_usage: 'high' }] }),
    complaints: ['warning portal form unexpected'],
  },
  {
    what: 'an index has words where its files are documented',
    environment: { PORTAL_COLLECTORS: 'indexing' },
    before: body('ai_activate_indexes', { items: [{ file_count: 'many' }] }),
    complaints: ['warning portal form unexpected'],
  },
  {
    what: 'the host name is unknown',
    environment: remote,
    network: { ...healthyNetwork, resolve: () => failing('ENOTFOUND') },
    failure: failed('ENOTFOUND', { hostname: 'portal.example.com' }),
    complaints: ['failure gfa name unresolved', 'failure portal name unresolved'],
    step: 'and the name servers of this machine; if this network needs a proxy, set HTTPS_PROXY',
  },
  {
    what: 'the certificate is from an unknown authority',
    environment: remote,
    network: distrusted('SELF_SIGNED_CERT_IN_CHAIN'),
    failure: failed('SELF_SIGNED_CERT_IN_CHAIN'),
    complaints: ['failure gfa tls untrusted', 'failure portal tls untrusted'],
    step: 'set NODE_EXTRA_CA_CERTS to the certificate of that authority',
  },
  {
    what: 'the network needs a proxy',
    environment: remote,
    network: unreachable(failed('ETIMEDOUT')),
    failure: failed('ETIMEDOUT'),
    complaints: ['failure gfa tls no-connection', 'failure portal tls no-connection'],
    step: 'if this network needs a proxy, set HTTPS_PROXY',
  },
  {
    what: 'the proxy asks for a password (407)',
    environment: { ...remote, HTTPS_PROXY: 'http://proxy.example.com:3128' },
    network: unreachable(proxyRejection(407)),
    failure: proxyRejection(407),
    complaints: ['failure gfa tls no-connection', 'failure portal tls no-connection'],
    step: 'put them into HTTPS_PROXY, as in http://user:password@host:port',
  },
];

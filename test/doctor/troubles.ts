import type { MockServices } from '../../src/demo/mock-services.ts';
import type { Network } from '../../src/doctor/network.ts';
import { proxyRejection } from '../../src/transport/connection-errors.ts';
import { type Condition, healthyNetwork } from './simulated-visit.ts';

/** A trouble of a site, with the step that everything has to name. */
export interface Trouble extends Condition {
  readonly what: string;
  /** Begins what to do. */
  readonly step: string;
  /** What the response says is missing. */
  readonly right?: string;
  /** Another exporter polls file acceleration, so that this one misses events. */
  readonly hasAnother?: true;
  /** Why no request arrives; undefined if they do. */
  readonly failure?: Error;
  /** Only the doctor can see it. */
  readonly isUnseen?: true;
  /** About appliances: the alert says that the page has the step. */
  readonly isOfAppliance?: true;
}

const failed = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });
const unreachable = (error: Error): Network => ({ ...healthyNetwork, handshake: () => Promise.reject(error) });
const remote = { PORTAL_URL: 'https://portal.example.com', GFA_URL: 'https://gfa.example.com/v1' };
const first = ({ fleet }: MockServices) => fleet.appliances[0]?.serial ?? '';
const ofFirst =
  (fault: { readonly kind: 'hang' } | { readonly kind: 'status'; readonly status: number }) => (mocks: MockServices) =>
    void mocks.fail({ ...fault, serial: first(mocks) });
const PORTAL = /^(?!data$)/;
const ofPortal =
  (status: number, headers: Readonly<Record<string, string>> = {}, body?: string) =>
  (mocks: MockServices) =>
    void mocks.fail({ kind: 'status', status, headers, operation: PORTAL, ...(body !== undefined && { body }) });
const PAGE = '<html>Sign in</html>';
const HTML = { 'content-type': 'text/html' };
const lacking = (right: string, operation: string | RegExp) => (mocks: MockServices) => {
  const body = JSON.stringify({ message: `User lacks permission ${right}` });
  mocks.fail({ kind: 'status', status: 403, operation, body });
};
const SERIES = /_(?:utilization|details|misses|iops|time|latency|average|connections|score|performance)$/;
const THROTTLED = 'lower the request rate of the other tools that use the limits of this account';

export const troubles: readonly Trouble[] = [
  {
    what: 'the secret of the portal is wrong',
    environment: { PORTAL_SERVICE_SECRET: '00000000-0000-4000-8000-000000000000' },
    step: 'check PORTAL_SERVICE_KEY and PORTAL_SERVICE_SECRET, or PORTAL_USER_KEY: complete, not revoked',
  },
  {
    what: 'the key of file acceleration is wrong',
    environment: { GFA_TOKEN: 'a-wrong-token-of-some-length' },
    step: 'check GFA_TOKEN: it must be the complete key that the portal issued, not revoked',
  },
  { what: 'the key of file acceleration needs the word Bearer', variations: { bearer: true }, step: 'the word Bearer' },
  {
    what: 'the service does not know the header of the client key, while events happen',
    variations: { clientKeyHeader: 'X-Other-client-key' },
    hasAnother: true,
    step: 'set GFA_CLIENT_KEY_HEADER',
  },
  {
    what: 'the service does not know the header of the client key, while no event happens',
    variations: { clientKeyHeader: 'X-Other-client-key' },
    before: (mocks) => {
      const metrics = [{ filers: [], volumes: [], locks: [], propagation: [] }];
      mocks.fail({ kind: 'body', operation: 'data', body: JSON.stringify({ version: 1, metrics, info: {} }) });
    },
    isUnseen: true,
    step: 'run the doctor again once files of an accelerated volume have changed',
  },
  {
    what: 'all telemetry returns 403',
    before: lacking('can_view_appliance_dashboard', SERIES),
    step: 'give the role the right',
    right: 'can_view_appliance_dashboard',
  },
  {
    what: 'one series returns 403',
    before: lacking('can_view_cache_statistics', 'cache_hits_misses'),
    step: 'give the role the right, or the account the licence, that the response names, or set PORTAL_SERIES=-cache_hits_misses',
    right: 'can_view_cache_statistics',
  },
  {
    what: 'an operation of the account returns 403',
    before: lacking('can_view_account_license', 'license'),
    step: 'give the role the right, or the account the licence, that the response names, or set PORTAL_COLLECTORS=-license',
    right: 'can_view_account_license',
  },
  {
    what: 'one appliance returns 404',
    before: ofFirst({ kind: 'status', status: 404 }),
    isOfAppliance: true,
    step: 'check in the portal that it is in use',
  },
  {
    what: 'one appliance returns 500',
    before: ofFirst({ kind: 'status', status: 500 }),
    isOfAppliance: true,
    step: 'wait; if it lasts, ask the operator of the service and attach a report (--doctor --report FILE)',
  },
  {
    what: 'requests about one appliance time out',
    before: ofFirst({ kind: 'hang' }),
    environment: { REQUEST_TIMEOUT: '10s' },
    isOfAppliance: true,
    step: 'wait; if the service is always so slow, raise REQUEST_TIMEOUT',
  },
  { what: 'the portal returns 429 with Retry-After', before: ofPortal(429, { 'retry-after': '5' }), step: THROTTLED },
  { what: 'the portal returns 429 without Retry-After', before: ofPortal(429), step: THROTTLED },
  {
    what: 'the clock of this machine is ten minutes behind',
    variations: { clockAheadMs: 600_000 },
    step: 'set the clock of this machine, for instance by NTP',
  },
  {
    what: 'the path is wrong, and a page with 404 comes',
    before: ofPortal(404, HTML, PAGE),
    step: 'check PORTAL_URL, the base address of the account’s region',
  },
  {
    what: 'a login page comes with 200',
    before: (mocks) => void mocks.fail({ kind: 'body', body: PAGE, contentType: 'text/html', operation: PORTAL }),
    step: 'name its host in NO_PROXY, or let the proxy pass it without a login',
  },
  {
    what: 'a login page comes by a redirect',
    before: ofPortal(302, { ...HTML, location: 'https://login.example.com/' }, PAGE),
    step: 'name its host in NO_PROXY, or let the proxy pass it without a login',
  },
  {
    what: 'the certificate is from an unknown authority',
    environment: remote,
    network: {
      ...healthyNetwork,
      handshake: async () => ({ fault: 'SELF_SIGNED_CERT_IN_CHAIN', endsAt: undefined, protocol: 'TLSv1.3' }),
    },
    failure: failed('SELF_SIGNED_CERT_IN_CHAIN'),
    step: 'set NODE_EXTRA_CA_CERTS to the certificate of that authority',
  },
  {
    what: 'the inventory is empty',
    before: (mocks) => void mocks.fail({ kind: 'body', body: '{"items":[]}', operation: /^(?:serials|edges)$/ }),
    step: 'check that the role of this key may see all appliances',
  },
  { what: 'shares are sent as fractions', variations: { ratioUnit: 'ratio' }, step: 'set PORTAL_UNITS=ratio' },
  {
    what: 'the network needs a proxy',
    environment: remote,
    network: unreachable(failed('ETIMEDOUT')),
    failure: failed('ETIMEDOUT'),
    step: 'if this network needs a proxy, set HTTPS_PROXY',
  },
  {
    what: 'the proxy asks for a password (407)',
    environment: { ...remote, HTTPS_PROXY: 'http://proxy.example.com:3128' },
    network: unreachable(proxyRejection(407)),
    failure: proxyRejection(407),
    step: 'put them into HTTPS_PROXY, as in http://user:password@host:port',
  },
  {
    what: 'the host name is unknown',
    environment: remote,
    network: { ...healthyNetwork, resolve: () => Promise.reject(failed('ENOTFOUND')) },
    failure: failed('ENOTFOUND', { hostname: 'portal.example.com' }),
    step: 'and the name servers of this machine; if this network needs a proxy, set HTTPS_PROXY',
  },
  {
    what: 'a body is too large',
    before: (mocks) => void mocks.fail({ kind: 'body', body: ' '.repeat(100_000), operation: 'serials' }),
    environment: { MAX_RESPONSE_BYTES: '50000' },
    step: 'raise MAX_RESPONSE_BYTES',
  },
];

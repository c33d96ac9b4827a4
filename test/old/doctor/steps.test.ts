import { expect, test } from 'vitest';
import { proxyRejection } from '../../src/transport/connection-errors.ts';
import { Network as Wires } from '../harness/network.ts';
import { World } from '../harness/world.ts';
import { isAtLeast } from '../support/program.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { body, fault, ofFirst, PORTAL, pageTroubles, status, THROTTLED, type Trouble } from '../troubles/rows.ts';
import { healthyNetwork, visit } from './simulated-visit.ts';

/* Only here: one failure after the other, with the same next step from the doctor, in the log, on the page, in its JSON and in the alert. */

const lacking = (right: string, operation: string | RegExp) =>
  status(403, { operation, body: JSON.stringify({ message: `User lacks permission ${right}` }) });
const NO_EVENTS = [{ filers: [], volumes: [], locks: [], propagation: [] }];
const HTML = { 'content-type': 'text/html' };
const PAGE = '<html>Sign in</html>';
const SERIES = /_(?:utilization|details|misses|iops|time|latency|average|connections|score|performance)$/;
const failed = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more });
const failing = (code: string) => Promise.reject(failed(code));
const unreachable = (error: Error) => ({ ...healthyNetwork, handshake: () => Promise.reject(error) });
const distrusted = (fault: string) => ({
  ...healthyNetwork,
  handshake: async () => ({ fault, endsAt: undefined, protocol: 'TLSv1.3' }),
});
const remote = { PORTAL_URL: 'https://portal.example.com', GFA_URL: 'https://gfa.example.com/v1' };

/** Those that no page has. */
const others: readonly Trouble[] = [
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
    what: 'a token comes, and nothing else is at this address',
    before: status(404, { operation: /^(?!data$|token)/ }),
    complaints: [
      ...['volume_connections', 'account_license', 'account', 'account_ai_activate', 'notifications', 'jobs'].map(
        (operation) => `failure portal operations ${operation}-404`,
      ),
      ...['edge-serials', 'file-iq-serials', 'edges'].map((list) => `failure portal inventory ${list}-not-found`),
    ],
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

/** What a running exporter tells of a trouble in twelve minutes. */
async function lived({ variations, before, environment, hasAnother, failure }: Trouble) {
  const world = await World.begin({ appliances: 4, variations: variations ?? {}, later: true });
  const mocks = world.services;
  before?.(mocks);
  const wires = new Wires();
  if (failure !== undefined) wires.failsWith(failure);
  const exporter = await world.exporter(
    {
      ...gfaEnvironment(mocks),
      ...portalEnvironment(mocks),
      GFA_INTERVAL: '1m',
      PORTAL_INTERVAL: '1m',
      PORTAL_COLLECTORS: 'telemetry,edges=1m,license=1m',
      PORTAL_DISCOVERY_INTERVAL: '1m',
      PORTAL_SERIES: 'cpu_utilization,load_average,cache_hits_misses,cache_utilization,memory_utilization_details',
      ...(environment as Readonly<Record<string, string>>),
    },
    failure === undefined ? {} : { connect: () => wires.connect() },
  );
  if (hasAnother) await world.exporter({ ...gfaEnvironment(mocks), GFA_CLIENT_KEY: 'another', GFA_INTERVAL: '7s' });
  await world.clock.advance(720_000);
  const warnings = (await exporter.scrape()).all('filer_exporter_warning_info');
  return {
    log: exporter.log.filter(({ level }) => isAtLeast(level, 'warn')).map(({ msg }) => msg),
    page: (await exporter.page('/status')).text.replaceAll(/<[^>]*>/g, ''),
    json: (await exporter.page('/api/v1/status')).text,
    alert: warnings.map(({ labels: { happened, advice } }) => `${happened}. ${advice}`),
  };
}

const found = (texts: readonly string[], part: string) =>
  texts.filter((text) => text.toLowerCase().includes(part.toLowerCase()));

test.each([...pageTroubles, ...others])('the doctor says what is wrong and what to do if $what', async (trouble) => {
  const { complaints, found } = await visit(trouble);
  expect(complaints).toEqual(trouble.complaints);
  const findings = found.findings.filter(({ level }) => level !== 'ok');
  for (const { observed, expected, advice } of findings)
    expect({ seen: observed, next: expected ?? advice }).toMatchObject({ seen: /./, next: /./ });
  if (trouble.step === undefined) return;
  const doctor = findings.map(({ observed, advice }) => `${observed}; ${advice}`);
  await expectSteps(trouble, [trouble.step, ...(trouble.right === undefined ? [] : [trouble.right])], doctor);
});

/** The same step stands in what the doctor found, in the log, on the page, in its JSON and in the alert. */
async function expectSteps(trouble: Trouble, parts: readonly string[], doctor: readonly string[]): Promise<void> {
  const told: Record<string, readonly string[]> = { doctor };
  if (!trouble.isUnseen) {
    const { log, page, json, alert } = await lived(trouble);
    Object.assign(told, { log, page: [page], json: [json], ...(!trouble.isOfAppliance && { alert }) });
  }
  for (const part of parts) {
    for (const [place, texts] of Object.entries(told)) {
      expect({ place, found: found(texts, part) }, JSON.stringify(told, undefined, 1)).not.toEqual({
        place,
        found: [],
      });
    }
  }
}

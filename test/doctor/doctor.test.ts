import { describe, expect, test } from 'vitest';
import { STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { proxyRejection } from '../../src/transport/connection-errors.ts';
import { type Condition, healthyNetwork, visit } from './simulated-visit.ts';

const failing = (code: string) => Promise.reject(Object.assign(new Error(code), { code }));
const body = (text: unknown) => ({ kind: 'body', body: JSON.stringify(text) }) as const;
const remote = { PORTAL_URL: 'https://portal.example.com', GFA_URL: 'https://gfa.example.com/v1' };

/** What is wrong, and the line that tells it: level, service, check, result. */
const troubles: readonly (readonly [trouble: string, condition: Condition, lines: readonly string[]])[] = [
  [
    'the client key is sent in a header that the service does not know',
    { variations: { clientKeyHeader: 'X-Nasuni-client-key' } },
    ['failure gfa client-key other-header'],
  ],
  [
    'no known header carries the client key',
    { variations: { clientKeyHeader: 'X-Other-client-key' } },
    ['failure gfa client-key ignored'],
  ],
  [
    'the token of file acceleration is wrong',
    { environment: { GFA_TOKEN: 'a-wrong-token-of-some-length' } },
    ['failure gfa credentials rejected'],
  ],
  [
    'the account has no accelerated volume',
    { before: (mocks) => mocks.fail({ operation: 'data', kind: 'status', status: 406 }) },
    ['failure gfa data status-406'],
  ],
  [
    'the path of the base URL is wrong',
    { before: (mocks) => mocks.fail({ operation: 'data', kind: 'status', status: 404 }) },
    ['failure gfa data status-404'],
  ],
  [
    'file acceleration knows no filer',
    { before: (mocks) => mocks.fail({ operation: 'data', ...body(NO_FILERS) }) },
    ['warning gfa client-key untold', 'warning gfa data no-filers'],
  ],
  [
    'the secret of the portal is wrong',
    { environment: { PORTAL_SERVICE_SECRET: '00000000-0000-4000-8000-000000000000' } },
    ['failure portal credentials rejected'],
  ],
  [
    'the account takes another form of the credentials',
    { variations: { authForms: ['service_key'] } },
    ['failure portal credentials other-form'],
  ],
  [
    'the token service is down',
    { before: (mocks) => mocks.fail({ operation: 'token', kind: 'reset' }) },
    ['failure portal token no-token'],
  ],
  ['no token can be refreshed', { variations: { refreshes: false } }, ['warning portal token refresh-404']],
  ['the licence lacks telemetry', { variations: { opsIqPremium: false } }, ['failure portal licence no-telemetry']],
  [
    'the role may not read one operation',
    { variations: { forbidden: ['jobs'] } },
    ['failure portal operations jobs-403'],
  ],
  [
    'the role may not read telemetry',
    { variations: { forbidden: STANDARD_SERIES }, environment: { PORTAL_SERIES: undefined } },
    ['failure portal operations telemetry-403'],
  ],
  [
    'one operation is not there',
    { before: (mocks) => mocks.fail({ operation: 'jobs', kind: 'status', status: 404 }) },
    ['failure portal operations jobs-404'],
  ],
  [
    'one operation is broken',
    { before: (mocks) => mocks.fail({ operation: 'notifications', kind: 'status', status: 500 }) },
    ['failure portal operations notifications-500'],
  ],
  [
    'another tool uses up the limit',
    { before: (mocks) => mocks.fail({ operation: 'jobs', times: 1, kind: 'status', status: 429 }) },
    ['warning portal limits rejected'],
  ],
  [
    'the clock of this machine is eight minutes behind',
    { variations: { clockAheadMs: 480_000 } },
    ['warning gfa clock skewed', 'warning portal clock skewed'],
  ],
  [
    'the account has no appliance',
    {
      before: (mocks) => {
        mocks.fail({ operation: 'serials', ...body({ items: [] }) });
        mocks.fail({ operation: 'edges', ...body({ items: [] }) });
      },
    },
    ['failure portal inventory all-empty'],
  ],
  [
    'the role sees no serials, but the edges',
    { before: (mocks) => mocks.fail({ operation: 'serials', ...body({ items: [] }) }) },
    ['warning portal inventory edge-serials-empty'],
  ],
  [
    'the role may not list the edges, though that collector is on',
    { variations: { forbidden: ['edges'] } },
    ['failure portal inventory edges-forbidden'],
  ],
  [
    'the ids of the two services do not match',
    { variations: { filerGuids: 'own', filerTitles: 'own' } },
    ['warning names filer-ids apart'],
  ],
  [
    'the ids of the two services do not match, and the names do',
    { variations: { filerGuids: 'own' } },
    ['warning names filer-ids apart'],
  ],
  [
    'no memory tells whether shares are percent, and processors do',
    { before: (mocks) => mocks.fail({ operation: 'memory_utilization_details', ...body({ items: [] }) }) },
    [],
  ],
  [
    'an appliance has no such series, which is no failure',
    { before: (mocks) => mocks.fail({ operation: 'load_average', times: 1, kind: 'status', status: 404 }) },
    [],
  ],
  [
    'a series has records of a date and a value',
    {
      before: (mocks) =>
        mocks.fail({
          operation: 'cpu_utilization',
          ...body({ items: [{ time: '2026-01-13T10:00:00Z', value: 5.2 }] }),
        }),
    },
    ['failure portal operations series-value', 'warning portal form unexpected'],
  ],
  [
    'an appliance is off',
    { before: (mocks) => mocks.fail({ operation: 'load_average', times: 1, ...body({ items: [] }) }) },
    ['warning portal appliances silent'],
  ],
  [
    'two appliances have one name',
    {
      before: ({ fleet, renameAppliance }) => {
        for (const { serial } of fleet.appliances.slice(0, 2)) renameAppliance(serial, 'edge-twin');
      },
    },
    ['warning names filer-names not-unique'],
  ],
  [
    'an alias names no filer',
    { environment: { FILER_ALIASES: '11111111-1111-4111-8111-111111111111=somewhere' } },
    ['warning names aliases unmatched'],
  ],
  [
    'a field holds words where numbers are documented',
    {
      before: (mocks) =>
        mocks.fail({
          operation: 'cpu_utilization',
          ...body({ items: [{ time: 1_772_445_300_000, cpu_usage: 'high' }] }),
        }),
    },
    ['warning portal form unexpected'],
  ],
  [
    'an index has words where its files are documented',
    {
      environment: { PORTAL_COLLECTORS: 'indexing' },
      before: (mocks) => mocks.fail({ operation: 'ai_activate_indexes', ...body({ items: [{ file_count: 'many' }] }) }),
    },
    ['warning portal form unexpected'],
  ],
  [
    'a host name cannot be resolved',
    { environment: remote, network: { ...healthyNetwork, resolve: () => failing('ENOTFOUND') } },
    ['failure gfa name unresolved', 'failure portal name unresolved'],
  ],
  [
    'the certificate has expired',
    {
      environment: remote,
      network: {
        ...healthyNetwork,
        handshake: async () => ({ fault: 'CERT_HAS_EXPIRED', endsAt: 0, protocol: 'TLSv1.3' }),
      },
    },
    ['failure gfa tls untrusted', 'failure portal tls untrusted'],
  ],
  [
    'the proxy asks for a password',
    {
      environment: { ...remote, HTTPS_PROXY: 'http://proxy.example.com:3128' },
      network: { ...healthyNetwork, handshake: () => Promise.reject(proxyRejection(407)) },
    },
    ['failure gfa tls no-connection', 'failure portal tls no-connection'],
  ],
];

const NO_FILERS = {
  version: 1,
  flags: {},
  metrics: [{ filers: [], volumes: [], locks: [], propagation: [] }],
  info: {
    account: '0b6a1f0e-5f0a-4a53-9b5e-1d7f0c2a9e11',
    volumes: [],
    request_time: '2026-03-02T10:00:00Z',
    last_info: '2026-03-02T10:00:00Z',
    last_lock_event: '2026-03-02T10:00:00Z',
    last_propagation: '2026-03-02T10:00:00Z',
  },
};

describe('the doctor on a healthy account', () => {
  test('finds nothing to complain of, and sends no more requests than it said', async () => {
    const { complaints, requests, announced, answers } = await visit({ environment: { PORTAL_COLLECTORS: 'all' } });
    expect(complaints).toEqual([]);
    expect(requests).toBeLessThanOrEqual(announced);
    expect(answers).toMatchObject({ metrics_shape: 'array', ratio_unit: 'percent', counts: 'per_bin' });
  });
});

describe('the doctor on an account in trouble', () => {
  test('blames the address for a 404 only if nothing else is there', async () => {
    const { found } = await visit({
      before: (mocks) => mocks.fail({ operation: 'jobs', kind: 'status', status: 404 }),
    });
    expect(found.findings.find(({ code }) => code === 'jobs-404')?.advice).toContain('PORTAL_COLLECTORS');
  });

  test.for([
    [{ kind: 'status', status: 503 }, 'status-503', /wait/],
    [{ kind: 'status', status: 429 }, 'status-429', /other tools/],
    [{ kind: 'status', status: 404 }, 'status-404', /PORTAL_URL/],
    [{ kind: 'body', body: '<html>Sign in</html>', contentType: 'text/html' }, 'no-token', /NO_PROXY/],
    [{ kind: 'body', body: '{}' }, 'no-token', /PORTAL_URL/],
    [{ kind: 'reset' }, 'no-token', /host and port.*HTTPS_PROXY/],
  ] as const)('blames no credentials where the request for a token comes to %j', async ([fault, code, advice]) => {
    const { found } = await visit({ before: (mocks) => mocks.fail({ operation: 'token', ...fault }) });
    const [finding, ...more] = found.findings.filter(({ level, check }) => level === 'failure' && check !== 'limits');
    expect(more).toEqual([]);
    expect(finding).toMatchObject({ check: 'token', code, advice: expect.stringMatching(advice) });
    expect(finding?.advice).not.toContain('credentials');
  });

  test('says that a web page was the answer', async () => {
    const page = { kind: 'status', status: 503, headers: { 'content-type': 'text/html' }, body: '<html>' } as const;
    const { found } = await visit({ before: (mocks) => mocks.fail(page) });
    const failures = found.findings.filter(({ level }) => level === 'failure');
    expect(failures.map(({ check }) => check)).toEqual(['data', 'token']);
    for (const { observed } of failures) expect(observed).toContain('a web page');
  });

  test.for(troubles)('%s', async ([, condition, lines]) => {
    const { complaints, found } = await visit(condition);
    expect(complaints).toEqual(lines);
    for (const { level, observed, expected, advice } of found.findings) {
      if (level !== 'ok') expect({ seen: observed, next: expected ?? advice }).toMatchObject({ seen: /./, next: /./ });
    }
  });
});

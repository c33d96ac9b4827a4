import { expect, test } from 'vitest';
import { createDoctor } from '../../../src/app/doctor.ts';
import { demoEnvironment } from '../../../src/demo/demo.ts';
import { type DemoRequest, type Fault, type Options, SimulatedServices } from '../../../src/demo/services.ts';
import { keptLog } from '../../harness/kept-log.ts';
import { configOf } from '../../harness/load-config.ts';
import { ManualClock } from '../../harness/manual-clock.ts';
import { MemoryConnection, URLS } from '../../harness/memory-connection.ts';

interface Condition {
  readonly options?: Partial<Options>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly before?: (services: SimulatedServices) => void;
}

/** Lets the doctor examine simulated services. */
async function visit({ options = {}, env = {}, before }: Condition = {}) {
  const clock = new ManualClock();
  const services = new SimulatedServices(clock, { appliances: 4, ...options });
  before?.(services);
  const urls = { gfaUrl: URLS.gfa, portalUrl: URLS.portal };
  const config = await configOf({
    ...demoEnvironment({}, urls),
    ALLOW_INSECURE_UPSTREAM: 'true',
    PORTAL_SERIES: 'cpu_utilization,memory_utilization_details,cache_disk_io_latency',
    PORTAL_COLLECTORS: 'telemetry,volumes,edges,license,jobs',
    ...env,
  });
  const doctor = createDoctor(config, {
    clock,
    random: () => 0.5,
    log: keptLog().log,
    version: '0.0.0',
    revision: 'test',
    nodeVersion: 'v20',
    connect: () => new MemoryConnection((service, request) => services.respond(service, request), clock),
  });
  const findings = await clock.through(doctor.run(new AbortController().signal), 100);
  await doctor.close();
  expect(services.requests().length).toBeLessThanOrEqual(doctor.requests);
  return findings;
}

/** The requests for this path fail so. */
const failing = (path: RegExp, fault: Fault): Condition => ({
  before: (services) => void services.fail({ path, ...fault }),
});

/** The responses on this path have other values in this field. */
const changed = (path: RegExp, field: RegExp, change: (value: unknown) => unknown): Condition => ({
  before: (services) => {
    const revive = (key: string, value: unknown) => (field.test(key) ? change(value) : value);
    services.edit(path, (body) => JSON.parse(JSON.stringify(body), revive));
  },
});

/** The requests arrive altered; one that becomes a number has this status. */
const altered = (alter: (request: DemoRequest) => DemoRequest | number): Condition => ({
  before: (services) => {
    const { respond } = services;
    services.respond = (service, request) => {
      const arrived = alter(request);
      if (typeof arrived !== 'number') return respond.call(services, service, arrived);
      return { status: arrived, headers: {}, body: '', how: undefined };
    };
  },
});

const month = (status: number) => altered((request) => (request.body.includes('P30D') ? status : request));

const secondKeyFails = altered((request) => (request.headers['x-service-client-key']?.endsWith('-b') ? 500 : request));

const bearer = altered((request) => {
  const { authorization = '' } = request.headers;
  if (!request.path.startsWith('/data')) return request;
  return authorization.startsWith('Bearer ')
    ? { ...request, headers: { ...request.headers, authorization: authorization.slice('Bearer '.length) } }
    : 401;
});

const withoutLicence: Condition = {
  before: (services) => {
    services.edit(/license/, (body) => ({ ...Object(body), ops_iq_premium: false }));
    services.fail({ path: /^\/telemetry/, status: 403 });
  },
};

const EVERYTHING = { PORTAL_SERIES: 'all', PORTAL_COLLECTORS: 'all' };
const WRONG_SECRET = { PORTAL_SERVICE_SECRET: '00000000-0000-4000-8000-000000000000' };
const SERIES = /^\/telemetry\/appliances/;
const LYON = /^\/telemetry\/appliances\/10de1f94/;
const noRecords = () => [];
const later = (ms: number) => (time: unknown) => Number(time) + ms;

// What the doctor advises about other failures is in the scenarios about failures.
test.each<[what: string, condition: Condition, ...complaints: readonly string[]]>([
  ['nothing is wrong', { env: EVERYTHING }],
  ['an operation returns 404', failing(/^\/jobs/, { status: 404 }), 'failure operations jobs-404 add -jobs'],
  ['the key is rejected', failing(/^\/data/, { status: 401 }), 'failure credentials rejected'],
  ['the key needs the word Bearer', bearer, 'failure credentials other-form'],
  ['no token can be refreshed', failing(/refresh/, { status: 404 }), 'warning token refresh-404'],
  ['the credentials are rejected', { env: WRONG_SECRET }, 'failure credentials rejected'],
  [
    'the credentials are in another form',
    { options: { signIns: ['service_key'] } },
    'failure credentials other-form PORTAL_AUTH=service_key',
  ],
  [
    'the client key has another header',
    { options: { clientKeyHeader: 'X-Nasuni-client-key' } },
    'failure client-key other-header GFA_CLIENT_KEY_HEADER=X-Nasuni-client-key',
  ],
  ['the client key has no known header', { options: { clientKeyHeader: 'X-Key' } }, 'failure client-key ignored'],
  // A check that failed is no negative result.
  ['another client key fails', secondKeyFails, 'unknown client-key failed'],
  ['a month of history fails', month(503), 'unknown longest_period failed'],
  ['a month of history is rejected', month(422)],
  ['ages are in milliseconds', changed(/^\/data/, /^last_c/, (age) => Number(age) * 1000), 'warning ages no-ages'],
  ['ages are negative', changed(/^\/data/, /^last_c/, (age) => -Number(age)), 'warning ages no-ages'],
  [
    'there are no filers and no events',
    changed(/^\/data/, /^(filers|locks|propagation)$/, noRecords),
    'unknown client-key no-events',
    'warning data no-filers',
    'unknown ages no-values',
    'unknown ages no-values',
  ],
  ['records are an hour and a second old', changed(SERIES, /^time$/, later(-3_537_000)), 'warning freshness old'],
  ['records are 301 seconds ahead', changed(SERIES, /^time$/, later(365_000)), 'warning freshness future'],
  ['an appliance is off', changed(LYON, /^items$/, noRecords), 'warning appliances silent'],
  [
    'the licence has no telemetry',
    withoutLicence,
    'failure licence no-telemetry add -telemetry',
    'unknown freshness no-record',
    'unknown bin_size failed',
    'unknown longest_period failed',
  ],
  [
    'an edge is in no list of serials',
    changed(/^\/serials/, /^items$/, (serials) => (serials as unknown[]).slice(1)),
    'warning inventory partial-match',
  ],
  [
    'records have a date and a value',
    changed(/cpu_utilization/, /^items$/, () => [{ time: '2026-03-02T10:00:00Z', value: 5 }]),
    'warning appliances silent',
    'failure operations series-value',
  ],
])('%s: the doctor says so, with the setting to change', async (_, condition, ...complaints) => {
  const findings = (await visit(condition)).filter(({ level }) => level !== 'ok');
  const lines = findings.map(({ level, check, code, advice = '' }) => {
    const [setting = ''] = /(?<=^set )\w+=\S+?(?=:|$)|add -\w+/.exec(advice) ?? [];
    return `${level} ${check} ${code} ${setting}`.trim();
  });
  expect(lines).toEqual(complaints);
  // The doctor does not recommend itself.
  for (const { level, advice } of findings) if (level === 'failure') expect(advice).toMatch(/^(?!.*--doctor)./);
});

test('every operation is fine only if none failed, and if the inventory shows all appliances', async () => {
  const about = async (condition: Condition) =>
    (await visit(condition)).flatMap(({ check, code }) => (check === 'operations' ? [code] : []));
  expect(await about(failing(/^\/jobs/, { status: 403 }))).toEqual(['jobs-403']);
  expect(await about(failing(/^\/serials/, { status: 500 }))).toEqual(['inventory']);
});

test('the doctor says what it found out about an account', async () => {
  const found = (await visit()).map(({ check, code }) => [check, code]);
  expect(Object.fromEntries(found)).toMatchObject({
    metrics_shape: 'array',
    delivery: 'bookmark',
    new_key_reach: 'an_hour',
    switched_off_group: 'empty',
    operations: 'answered',
    time_unit: 'milliseconds',
    ratio_unit: 'percent',
    memory_unit: 'kilobytes',
    latency_unit: 'milliseconds',
    counts: 'per_bin',
    bin_size: 'honoured',
    longest_period: 'P30D',
    connection_appliance_id: 'edge_id',
  });
});

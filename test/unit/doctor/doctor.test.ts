import { expect, test } from 'vitest';
import { createDoctor } from '../../../src/app/doctor.ts';
import { demoEnvironment } from '../../../src/demo/demo.ts';
import { type Fault, type Options, SimulatedServices } from '../../../src/demo/services.ts';
import type { Finding } from '../../../src/doctor/finding.ts';
import { createLog } from '../../../src/runtime/log.ts';
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
    PORTAL_SERIES: 'all',
    PORTAL_COLLECTORS: 'telemetry,volumes,edges,license,jobs',
    ...env,
  });
  const doctor = createDoctor(config, {
    clock,
    random: () => 0.5,
    log: createLog('silent', { write: () => {} }),
    version: '0.0.0',
    revision: 'test',
    nodeVersion: 'v20',
    connect: () => new MemoryConnection((service, request) => services.respond(service, request), clock),
  });
  const findings = await clock.through(doctor.run(new AbortController().signal), 100);
  await doctor.close();
  const lines = findings.map(({ level, subject, check, code }) => `${level} ${subject} ${check} ${code}`);
  return {
    findings,
    requests: services.requests().length,
    announced: doctor.requests,
    complaints: lines.filter((line) => !line.startsWith('ok ')),
    find: (check: string): Finding | undefined => findings.find((finding) => finding.check === check),
  };
}

test('a healthy account has no complaint, and no more requests than announced', async () => {
  const { complaints, requests, announced, find } = await visit({ env: { PORTAL_COLLECTORS: 'all' } });
  expect(complaints).toEqual([]);
  expect(requests).toBeLessThanOrEqual(announced);
  expect(find('ages')?.level).toBe('ok');
  expect(find('freshness')?.level).toBe('ok');
  expect(find('longest_period')?.code).toBe('P30D');
});

/** A fault, and what is said about it. */
const faults: readonly (readonly [what: string, fault: Fault, complaint: string])[] = [
  ['telemetry is forbidden', { path: /^\/telemetry\/a/, status: 403 }, 'failure portal operations telemetry-403'],
  ['one operation returns 403', { path: /^\/jobs/, status: 403 }, 'failure portal operations jobs-403'],
  ['one operation returns 404', { path: /^\/jobs/, status: 404 }, 'failure portal operations jobs-404'],
  ['the path of file acceleration is wrong', { service: 'gfa', status: 404 }, 'failure gfa data status-404'],
  ['the token service is away', { path: /^\/auth\/token/, how: 'reset' }, 'failure portal token no-token'],
  ['no token can be refreshed', { path: /refresh/, status: 404 }, 'warning portal token refresh-404'],
];

test.each(faults)('%s: the doctor says so, with the next step', async (_, fault, complaint) => {
  const { complaints, findings } = await visit({ before: (services) => services.fail(fault) });
  expect(complaints).toContain(complaint);
  for (const { level, advice } of findings) if (level === 'failure') expect(advice).toBeTruthy();
});

test.each<[what: string, condition: Condition, code: string, advice: string]>([
  [
    'rejected credentials',
    { env: { PORTAL_SERVICE_SECRET: '00000000-0000-4000-8000-000000000000' } },
    'portal credentials rejected',
    'PORTAL_SERVICE_KEY',
  ],
  [
    'credentials in another form',
    { options: { signIns: ['service_key'] } },
    'portal credentials other-form',
    'set PORTAL_AUTH=service_key',
  ],
  [
    'another header of the client key',
    { options: { clientKeyHeader: 'X-Nasuni-client-key' } },
    'gfa client-key other-header',
    'set GFA_CLIENT_KEY_HEADER=X-Nasuni-client-key',
  ],
])('%s: the failure names the setting', async (_, condition, code, advice) => {
  const { findings } = await visit(condition);
  const failures = findings.filter(({ level }) => level === 'failure');
  expect(failures.map((finding) => `${finding.subject} ${finding.check} ${finding.code}`)).toEqual([code]);
  expect(failures[0]?.advice).toContain(advice);
});

/** A check that failed is no negative result. */
test('a /data request that fails proves nothing about the client key', async () => {
  let sent = 0;
  const { find } = await visit({
    before: (services) => {
      services.edit(/^\/data/, (body) => {
        sent += 1;
        if (sent === 2) services.fail({ service: 'gfa', status: 500 });
        return body;
      });
    },
  });
  expect(find('client-key')).toMatchObject({ level: 'unknown' });
  expect(find('delivery')).toBeUndefined();
});

test('503 for one period is unknown, and 422 is a shorter period', async () => {
  const failing = (status: number): Condition => ({
    before: (services) => {
      const { respond } = services;
      services.respond = (service, request) =>
        request.body.includes('P30D') && service === 'portal'
          ? { status, headers: { date: new Date(0).toUTCString() }, body: '', how: undefined }
          : respond.call(services, service, request);
    },
  });
  expect((await visit(failing(503))).find('longest_period')).toMatchObject({ level: 'unknown' });
  expect((await visit(failing(422))).find('longest_period')).toMatchObject({ level: 'ok', code: 'P7D' });
});

test('a list of the inventory that fails does not make every operation fine', async () => {
  const { find, findings } = await visit({ before: (services) => services.fail({ path: /^\/serials/, status: 500 }) });
  expect(findings.some(({ level, check }) => level === 'failure' && check === 'inventory')).toBe(true);
  expect(find('operations')?.level).not.toBe('ok');
});

/** A service whose responses on this path have other values. */
function received(path: RegExp, reviver: (key: string, value: unknown) => unknown): Condition {
  return { before: (services) => services.edit(path, (body) => JSON.parse(JSON.stringify(body), reviver)) };
}

const SHARES = ['cpu_usage', 'cache_utilization', 'utilization'];

test.each<[values: string, check: string, warning: Partial<Finding>, condition: Condition]>([
  [
    'ages that are no seconds',
    'ages',
    { code: 'no-ages' },
    received(/^\/data/, (key, value) => (key === 'last_checkin' ? Number(value) * 1000 : value)),
  ],
  [
    'records of which the newest is two hours old',
    'freshness',
    { code: 'old' },
    received(/^\/telemetry\/appliances/, (key, value) => (key === 'time' ? Number(value) - 7_200_000 : value)),
  ],
  [
    'shares from 0 to 1',
    'ratio_unit',
    { advice: 'set PORTAL_UNITS=ratio' },
    received(/_utilization/, (key, value) => (SHARES.includes(key) ? Number(value) / 100 : value)),
  ],
])('%s are a warning', async (_, check, warning, condition) => {
  expect((await visit(condition)).find(check)).toMatchObject({ level: 'warning', ...warning });
});

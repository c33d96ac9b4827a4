import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createDoctor } from '../../src/app/doctor.ts';
import type { Fault } from '../../src/demo/services.ts';
import { MINUTE } from '../harness/duration.ts';
import { keptLog } from '../harness/kept-log.ts';
import type { Scrape } from '../harness/scrape.ts';
import { type Scenario, type ScenarioOptions, simulate } from './simulate.ts';

/** A failure, how all stands a quarter of an hour after it began, and the next step that log, page and doctor name alike. */
interface Failure {
  readonly options?: ScenarioOptions;
  readonly begin: (run: Scenario) => () => void;
  readonly during: string;
  /** The label of the requests that it spoils. */
  readonly code?: string;
  /** A metric that is 1 meanwhile, and absent when all is well. */
  readonly shows?: readonly [name: string, labels: Readonly<Record<string, string>>];
  /** The alert whose condition holds. */
  readonly alert?: string;
  readonly step: string;
  /** What the log names instead, because the failure was another one when it began. */
  readonly stepAtBeginning?: string;
}

const WELL = 'portal up, 3 reporting, 9 series';
const ONE_DOWN = 'portal up, 2 reporting, 1 unavailable, 6 series';
const TELEMETRY = /^\/telemetry\//;
const WAIT = 'if it lasts, ask the operator of the service';
const BOTH = { gfa: true };
const portal = (fault: Fault) => (run: Scenario) => run.fail({ service: 'portal', ...fault });
const gfa = (fault: Fault) => (run: Scenario) => run.fail({ service: 'gfa', ...fault });
const oneAppliance = (fault: Fault) => (run: Scenario) =>
  run.fail({ path: new RegExp(`^/telemetry/appliances/${run.serials[0]}/`), ...fault });
const down = (reason: string) => `portal down (${reason}), 0 series`;
const isDown = (reason: string) => ({ during: down(reason), alert: 'FilerApiDown' });
const gfaIsDown = (reason: string) => {
  return { options: BOTH, during: `gfa down (${reason}), 0 filers; ${WELL}`, alert: 'FilerApiDown' };
};

const failures: Readonly<Record<string, Failure>> = {
  'the portal returns 503, and file acceleration works': {
    options: BOTH,
    begin: portal({ status: 503 }),
    during: `gfa up, 3 filers; ${down('server_error')}`,
    alert: 'FilerApiDown',
    code: '503',
    step: WAIT,
  },
  'the credentials are revoked': {
    begin: portal({ status: 401 }),
    ...isDown('credentials'),
    code: '401',
    step: 'check PORTAL_SERVICE_KEY and PORTAL_SERVICE_SECRET',
  },
  'a firewall forbids everything': {
    begin: portal({ status: 403 }),
    ...isDown('credentials'),
    code: '403',
    step: 'check PORTAL_SERVICE_KEY and PORTAL_SERVICE_SECRET',
    // The token at hand lasts for some minutes.
    stepAtBeginning: 'give the role the right',
  },
  'a gateway knows no path': {
    begin: portal({ status: 404 }),
    ...isDown('not_found'),
    code: '404',
    step: 'check PORTAL_URL',
  },
  'a maintenance page comes in the place of every response': {
    begin: portal({ text: '<html>We will be back.</html>', headers: { 'content-type': 'text/html' } }),
    ...isDown('invalid'),
    code: 'invalid',
    step: 'name its host in NO_PROXY',
  },
  'the network is cut': {
    begin: portal({ how: 'reset' }),
    ...isDown('network'),
    code: 'network',
    step: 'check the firewall',
  },
  'the portal hangs': {
    begin: portal({ how: 'hang' }),
    ...isDown('timeout'),
    code: 'timeout',
    step: 'raise REQUEST_TIMEOUT',
  },
  'telemetry comes as a byte a second': {
    begin: portal({ path: TELEMETRY, how: 'drip' }),
    ...isDown('timeout'),
    code: 'timeout',
    step: 'raise REQUEST_TIMEOUT',
  },
  'other tools use up the limits of the account': {
    begin: portal({ status: 429, headers: { 'retry-after': '300' } }),
    ...isDown('throttled'),
    code: '429',
    step: 'lower the request rate of the other tools',
  },
  'telemetry fails, and the account does not': {
    begin: portal({ path: TELEMETRY, status: 503 }),
    ...isDown('server_error'),
    code: '503',
    step: WAIT,
  },
  'the token service is down while every token ends': {
    options: { services: { tokenLifetimeMs: 5 * MINUTE } },
    begin: portal({ path: /^\/auth\//, status: 503 }),
    ...isDown('server_error'),
    code: '503',
    step: WAIT,
  },
  'telemetry is forbidden': {
    begin: portal({ path: TELEMETRY, status: 403 }),
    during: down('forbidden'),
    alert: 'FilerApiForbidden',
    code: '403',
    step: 'give the role the right, or the account the licence',
  },
  'every request about one appliance returns 500': {
    begin: oneAppliance({ status: 500 }),
    during: ONE_DOWN,
    alert: 'FilerApplianceTelemetryMissing',
    code: '500',
    step: WAIT,
  },
  'only requests about one appliance return 429': {
    begin: oneAppliance({ status: 429, headers: { 'retry-after': '5' } }),
    during: ONE_DOWN,
    alert: 'FilerApplianceTelemetryMissing',
    code: '429',
    step: 'it is sent again when the time has passed',
  },
  'one series of all appliances returns 500': {
    begin: portal({ path: /cpu_utilization/, status: 500 }),
    during: 'portal up, 3 reporting, 6 series',
    alert: 'FilerDataStale',
    code: '500',
    step: WAIT,
  },
  'the list of edges is forbidden': {
    begin: portal({ path: /^\/edges(?:\?|$)/, status: 403 }),
    during: WELL,
    shows: ['filer_exporter_inventory_gap_info', { list: 'edges', reason: 'forbidden' }],
    code: '403',
    step: 'add -edges to PORTAL_COLLECTORS',
  },
  'the list of edges is larger than MAX_RESPONSE_BYTES': {
    options: { env: { MAX_RESPONSE_BYTES: '4000000' } },
    begin: portal({ path: /^\/edges(?:\?|$)/, text: ' '.repeat(5_000_000) }),
    during: WELL,
    code: 'oversize',
    step: 'raise MAX_RESPONSE_BYTES',
  },
  'the list of serials returns 500': {
    begin: portal({ path: /^\/serials/, status: 500 }),
    during: WELL,
    code: '500',
    step: WAIT,
  },
  'the list of serials is empty, and that of edges is not': {
    begin: portal({ path: /^\/serials/, text: '{"items":[]}' }),
    during: WELL,
    step: 'check that the role of this key may see all appliances',
  },
  'the role sees no appliance': {
    begin: (run) => {
      const end = portal({ path: /^\/(?:serials|edges)/, text: '{"items":[]}' })(run);
      // The next list comes after the discovery interval.
      const endDisturbance = run.disturb(() => true, 8 * MINUTE);
      return () => {
        end();
        endDisturbance();
      };
    },
    during: 'portal up, 0 series',
    shows: ['filer_exporter_inventory_gap_info', { list: 'all', reason: 'empty' }],
    alert: 'FilerInventoryShrunk',
    step: 'check that the role of this key may see all appliances',
  },
  'file acceleration returns 500': {
    begin: gfa({ status: 500 }),
    ...gfaIsDown('server_error'),
    code: '500',
    step: WAIT,
  },
  'file acceleration sends half of each response': {
    begin: gfa({ how: 'cut' }),
    ...gfaIsDown('network'),
    code: 'network',
    step: 'check the firewall',
  },
  'file acceleration rejects the token': {
    begin: gfa({ status: 401 }),
    ...gfaIsDown('credentials'),
    code: '401',
    step: 'check GFA_TOKEN',
  },
  'file acceleration knows no volume of the account': {
    begin: gfa({ status: 406 }),
    ...gfaIsDown('rejected'),
    code: '406',
    step: 'a volume in mode Active or Observation',
  },
  'the clock of this machine is ten minutes behind': {
    begin: (run) => {
      run.services.set({ clockAheadMs: 600_000 });
      const end = run.disturb();
      return () => {
        run.services.set({ clockAheadMs: 0 });
        end();
      };
    },
    during: WELL,
    shows: ['filer_exporter_warning_info', { api: 'portal', warning: 'clock_skew' }],
    step: 'set the clock of this machine',
  },
};

test.each(Object.entries(failures))(
  '%s: metric, log, page, alert and doctor name it and the next step, and it ends',
  async (_, failure) => {
    const { options, begin, during, code, shows, alert, step, stepAtBeginning = step } = failure;
    const run = await simulate(options);
    const well = (await run.advance('4m')).standing;
    const before = run.log.length;
    const end = begin(run);
    const scrape = await run.advance('16m');
    expect(scrape.standing).toBe(during);
    if (code !== undefined) expect(scrape.sum('filer_exporter_requests_total', { code })).toBeGreaterThan(0);
    if (shows !== undefined) expect(scrape.value(...shows)).toBe(1);
    if (alert !== undefined) expect(holds(alert, scrape)).toBe(true);
    const warnings = run.log.slice(before).filter(({ level }) => level === 'warn');
    expect(warnings.map(({ advice }) => advice)).toContainEqual(expect.stringContaining(stepAtBeginning));
    expect((await run.get('/status')).text.replaceAll('&#39;', "'").toLowerCase()).toContain(step.toLowerCase());
    expect((await doctorOf(run)).flatMap(({ advice }) => advice ?? [])).toContainEqual(expect.stringContaining(step));
    end();
    const after = await run.advance('8m');
    expect(after.standing).toBe(well);
    if (shows !== undefined) expect(after.value(...shows)).toBeUndefined();
  },
);

/** What the doctor finds wrong now. */
async function doctorOf(run: Scenario) {
  const doctor = createDoctor(run.config, run.environment(keptLog('silent').log));
  const findings = await run.clock.through(doctor.run(new AbortController().signal), 1_000);
  return findings.filter(({ level }) => level === 'warning' || level === 'failure');
}

const rules = parse(
  readFileSync(new URL('../../deploy/prometheus/filer-exporter.rules.yml', import.meta.url), 'utf8'),
) as {
  readonly groups: readonly { readonly rules: readonly { readonly alert?: string; readonly expr: string }[] }[];
};

/** Whether the condition of an alert holds for a scrape: one of its comparisons of a metric with a number. */
function holds(alert: string, scrape: Scrape): boolean {
  const own = rules.groups.flatMap((group) => group.rules).filter((rule) => rule.alert === alert);
  const condition =
    /max (?:without|by) \([\w, ]+\) \(last_over_time\((\w+)(?:\{([^}]*)\})?\[\w+\]\)\) (==|>) ([\d.]+)/g;
  return own.some(({ expr }) =>
    [...expr.matchAll(condition)].some(([, name = '', labels = '', comparison, limit]) => {
      const wanted = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value]);
      const values = scrape.all(name, Object.fromEntries(wanted)).map(({ value }) => value);
      return values.some((value) => (comparison === '==' ? value === Number(limit) : value > Number(limit)));
    }),
  );
}

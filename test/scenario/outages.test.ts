import { expect, test } from 'vitest';
import type { Fault } from '../../src/demo/services.ts';
import type { Duration } from '../harness/duration.ts';
import { type Scenario, type ScenarioOptions, simulate } from '../harness/simulate.ts';
import { standing } from '../harness/standing.ts';

const WELL = 'portal up, 3 reporting, 9 series';
const TELEMETRY = /^\/telemetry\//;
const down = (reason: string) => `portal down (${reason}), 0 series`;

interface Outage {
  readonly options?: ScenarioOptions;
  readonly begin: (run: Scenario) => readonly (() => void)[];
  /** 30 minutes if not given. */
  readonly lasts?: Duration;
  readonly during: string;
  /** The label of the requests that it spoils. */
  readonly code?: string;
}

const portalFails = (fault: Fault) => (run: Scenario) => [run.fail({ service: 'portal', ...fault })];

const outages: Readonly<Record<string, Outage>> = {
  'a portal that returns 503': {
    begin: portalFails({ status: 503 }),
    during: down('server_error'),
    code: '503',
  },
  'a maintenance page in the place of every response': {
    begin: portalFails({ text: '<html>We will be back.</html>' }),
    during: down('invalid'),
    code: 'invalid',
  },
  'a gateway that knows no path': {
    begin: portalFails({ status: 404 }),
    during: down('not_found'),
    code: '404',
  },
  'a firewall that forbids everything': {
    begin: portalFails({ status: 403 }),
    during: down('credentials'),
    code: '403',
  },
  'a network that is cut': {
    begin: portalFails({ how: 'reset' }),
    during: down('network'),
    code: 'network',
  },
  'a portal that hangs': {
    begin: portalFails({ how: 'hang' }),
    during: down('timeout'),
    code: 'timeout',
  },
  'a portal that sends a byte a second': {
    begin: portalFails({ path: TELEMETRY, how: 'drip' }),
    during: down('timeout'),
    code: 'timeout',
  },
  'a portal that rejects every request by its limits': {
    begin: portalFails({ status: 429, headers: { 'retry-after': '300' } }),
    during: down('throttled'),
    code: '429',
  },
  'telemetry that fails while the account responds': {
    begin: portalFails({ path: TELEMETRY, status: 503 }),
    during: down('server_error'),
    code: '503',
  },
  'a token service that is down while every token ends': {
    begin: portalFails({ path: /^\/auth\//, status: 503 }),
    during: down('server_error'),
    code: '503',
  },
  'credentials that are revoked and given again': {
    begin: portalFails({ status: 401 }),
    during: down('credentials'),
    code: '401',
  },
  'one series that is rejected for all appliances, while the others go on': {
    begin: portalFails({ path: /load_average/, status: 400 }),
    during: 'portal up, 3 reporting, 6 series',
    code: '400',
  },
  'an account of which everything but telemetry fails': {
    begin: portalFails({ path: /^\/(?!telemetry|auth)/, status: 503 }),
    lasts: '1h',
    during: WELL,
    code: '503',
  },
  'a list of edges that is larger than MAX_RESPONSE_BYTES': {
    options: { env: { MAX_RESPONSE_BYTES: '4000000' } },
    begin: portalFails({ path: /^\/edges/, text: ' '.repeat(5_000_000) }),
    during: WELL,
    code: 'oversize',
  },
  'a file acceleration service that sends half of each response': {
    options: { gfa: true },
    begin: (run) => [run.fail({ service: 'gfa', how: 'cut' })],
    during: `gfa down (network), 0 filers; ${WELL}`,
    code: 'network',
  },
  'a portal that is down, which file acceleration does not notice': {
    options: { gfa: true },
    begin: portalFails({ status: 503 }),
    lasts: '1h',
    during: `gfa up, 3 filers; ${down('server_error')}`,
  },
};

test.each(Object.entries(outages))(
  '%s is reported within half an hour, and no longer a quarter of an hour after its end',
  async (_, outage) => {
    const { options, begin, lasts = '30m', during, code } = outage;
    const run = await simulate(options);
    const well = standing(await run.advance('10m'));
    const ends = begin(run);
    const scrape = await run.advance(lasts);
    expect(standing(scrape)).toBe(during);
    if (code !== undefined) expect(scrape.sum('filer_exporter_requests_total', { code })).toBeGreaterThan(0);
    for (const end of ends) end();
    expect(standing(await run.advance('15m'))).toBe(well);
  },
);

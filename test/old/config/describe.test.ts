import { describe, expect, test } from 'vitest';
import { variableRows } from '../../src/catalog.ts';
import { effectiveConfiguration, helpText } from '../../src/config/describe.ts';
import { labelOf } from '../../src/config/schema.ts';
import { both, configOf, type Environment, errorsOf, gfaOnly, portalOnly, services } from './surroundings.ts';

describe('the variables', () => {
  test.each(variableRows.filter(({ row }) => row.default !== undefined))(
    'the default of $name is good',
    ({ name, row }) => {
      expect(errorsOf({ ...both, [name]: row.default })).toEqual([]);
    },
  );

  test('each has one line of help that is not a repetition of another', () => {
    const helps = variableRows.map(({ row }) => row.help);
    expect(new Set(helps).size).toBe(helps.length);
    for (const help of helps) expect(help).toMatch(/^[^\n|]{10,90}$/);
  });
});

describe('--help', () => {
  const lines = helpText(variableRows).split('\n');

  test('has a line with name, type and default of every variable, and its meaning below', () => {
    for (const { name, row } of variableRows) {
      const place = lines.findIndex((line) => line.startsWith(`  ${name} `));
      expect(lines[place]).toContain(labelOf(row));
      if (row.default !== undefined) expect(lines[place]).toContain(`default: ${row.default}`);
      expect(lines[place + 1]?.trim()).toBe(row.help.replaceAll('`', ''));
    }
  });

  test('lines up, and fits a terminal', () => {
    const shown = lines.filter((line) => line.startsWith('  '));
    expect(new Set(shown.map((line) => /^ {2}\S* +/.exec(line)?.[0].length))).toEqual(new Set([29]));
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(112);
  });
});

describe('the effective configuration', () => {
  test('is what the operator could have written, in the order of the documentation', () => {
    const environment = {
      ...both,
      PORTAL_USER_KEY: undefined,
      PORTAL_SERVICE_KEY_FILE: '/run/key',
      PORTAL_SERVICE_SECRET: 'secret-canary',
      PORTAL_INTERVAL: '90s',
      PORTAL_SERIES: '-cpu_utilization,load_average=5m,cache_utilization',
      PORTAL_DAILY_LIMIT: '0',
      LISTEN_ADDRESS: '[::1]:1',
      EVENT_BUCKETS: '0.5,1.0005,10s',
      HTTPS_PROXY: 'http://me:proxy-canary@proxy:3128',
      NO_PROXY: 'localhost',
    };
    expect(effectiveConfiguration(configOf(environment, { '/run/key': 'key-canary' }), services)).toBe(`\
GFA_URL=https://gfa.example.com/v1
GFA_TOKEN=[redacted]
GFA_CLIENT_KEY=filer-exporter
GFA_CLIENT_KEY_HEADER=X-Service-client-key
GFA_INTERVAL=1m
GFA_METRICS=filers,volumes,locks,propagation
PORTAL_URL=https://portal.example.com
PORTAL_SERVICE_KEY=[redacted] from /run/key
PORTAL_SERVICE_SECRET=[redacted]
PORTAL_USER_KEY=
PORTAL_AUTH=oauth2
PORTAL_INTERVAL=1m30s
PORTAL_MODE=full
PORTAL_FULL_INTERVAL=1h
PORTAL_DISCOVERY_INTERVAL=15m
# PORTAL_SERIALS: not set; all discovered
PORTAL_SERIES=load_average=5m,cache_utilization
PORTAL_COLLECTORS=telemetry,volumes=5m,edges=1h,license=1h
PORTAL_LOOKBACK=15m
PORTAL_BIN_SIZE=1m
# PORTAL_UNITS: not set; as documented
PORTAL_CONCURRENCY=8
PORTAL_RATE_LIMIT=500/30s
PORTAL_DAILY_LIMIT=0
REQUEST_TIMEOUT=30s
MAX_RESPONSE_BYTES=33554432
STALE_AFTER=3
FORGET_AFTER=1d
EVENT_BUCKETS=500ms,1.0005,10s
EVENT_HISTOGRAMS=true
FILER_ALIASES=
STATE_FILE=
ALLOW_INSECURE_UPSTREAM=false
MAX_SCRAPES=40
LISTEN_ADDRESS=[::1]:1
METRICS_PATH=/metrics
WEB_CONFIG_FILE=
# WEB_OPEN_PATHS: not set; /healthz,/readyz
MAX_CONNECTIONS=256
SHARD=0
TOTAL_SHARDS=1
SHUTDOWN_TIMEOUT=10s
LOG_LEVEL=info
LOG_FORMAT=auto
# REMOTE_WRITE_URL: not set; nothing is sent
HTTPS_PROXY=http://[redacted]@proxy:3128
NO_PROXY=localhost
`);
  });

  test('shows of an API that is off only that it is off', () => {
    const text = effectiveConfiguration(configOf(portalOnly), services);
    expect(text).toMatch(/^GFA_URL=\nPORTAL_URL=/);
    expect(effectiveConfiguration(configOf(gfaOnly), services)).not.toContain('PORTAL_AUTH');
  });

  test('with the secrets put back, gives the same configuration', () => {
    const environment: Environment = {
      ...both,
      PORTAL_SERIES: 'all=20s,cpu_utilization=1h30m',
      PORTAL_SERIALS: '0B7E2A64-5f0c-4c1e-9d3a-8f6b1c2d3e4f',
      PORTAL_LOOKBACK: '26h',
      PORTAL_BIN_SIZE: '90s',
      LISTEN_ADDRESS: 'localhost:80',
      STATE_FILE: 'a=b c',
      SHARD: '1',
      TOTAL_SHARDS: '2',
      PORTAL_COLLECTORS: 'telemetry,notifications=1m30s',
    };
    const config = configOf(environment);
    const shown = Object.fromEntries(
      effectiveConfiguration(config, services)
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    expect(configOf({ ...shown, GFA_TOKEN: both.GFA_TOKEN, PORTAL_USER_KEY: both.PORTAL_USER_KEY })).toEqual(config);
  });
});

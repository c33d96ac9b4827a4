import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type SeenRequest, startStandIn } from '../../src/demo/stand-in.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { FURTHER_SERIES, operationsFor, STANDARD_SERIES } from '../../src/sources/portal/appliances/operations.ts';
import { portalRequests } from '../../src/sources/portal/requests.ts';
import { assertAllowed } from '../../src/transport/allowed.ts';
import { coverage } from '../support/coverage.ts';
import { beyond, published } from '../support/endpoints.ts';
import { gfaEnvironment, portalEnvironment } from '../support/live.ts';
import { root, run, start } from '../support/program.ts';
import { until } from '../support/until.ts';

const ENDPOINTS = [...published, ...beyond];

const PATTERNS = ENDPOINTS.map((of) => ({
  of,
  pattern: new RegExp(`^${of.method} ${of.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** All that may ever be sent, and there is no sixth. What reads is POST only where the service has it so. */
const KINDS: Readonly<Record<string, RegExp>> = {
  'any GET': /^GET /,
  'getting a token': /^POST \/auth\/token$/,
  'refreshing it': /^POST \/auth\/token\/refresh$/,
  'giving it back': /^DELETE \/auth\/token$/,
  'reading telemetry': /^POST \/telemetry\/(?:appliances|volumes)\/[\w-]+\/[a-z_]+$/,
};

function kindsOf(requests: readonly SeenRequest[]): readonly string[] {
  const kinds = requests.map(({ method, path }) => {
    const request = `${method} ${path.split('?', 1)[0]}`;
    return Object.keys(KINDS).find((kind) => KINDS[kind]?.test(request)) ?? request;
  });
  return [...new Set(kinds)];
}

const ALL_KINDS: readonly string[] = Object.keys(KINDS);

/** What the documentation says that some collector asks, and no more. */
const ASKED: readonly string[] = coverage(ENDPOINTS)
  .filter(({ collectors }) => collectors.length > 0)
  .map(({ endpoint: { method, path } }) => `${method} ${path}`);

/** What was asked, as the interfaces name it: identifiers in braces. What they do not have keeps its own path. */
function publishedNames(requests: readonly SeenRequest[]): ReadonlySet<string> {
  return new Set(
    requests.map(({ service, method, path }) => {
      const fitting = PATTERNS.filter(({ of, pattern }) => of.service === service && pattern.test(`${method} ${path}`));
      // A path without an identifier goes before one that takes any.
      const [found] = fitting.toSorted((one, other) => one.of.path.split('{').length - other.of.path.split('{').length);
      return `${method} ${found?.of.path ?? path}`;
    }),
  );
}

describe('whatever the program sends is of one of five kinds', () => {
  test('with every operation of every series and collector, through refreshes, refusals and the end', async () => {
    const variations = { tokenLifetimeMs: 3_000, rateLimit: null };
    const standIn = await startStandIn({ clock: systemClock, appliances: 2, volumes: 2, variations });
    onTestFinished(() => standIn.close());
    standIn.fail({ kind: 'status', status: 401, operation: 'load_average', times: 2 });
    const quick = {
      PORTAL_INTERVAL: '1s',
      PORTAL_DISCOVERY_INTERVAL: '1s',
      PORTAL_SERIES: 'all,appliance_health_score=1s',
      PORTAL_COLLECTORS: 'all=5s',
      PORTAL_RATE_LIMIT: '3000/30s',
    };
    const environment = { ...gfaEnvironment(standIn), ...portalEnvironment(standIn), ...quick };
    const program = start([], { environment });
    const polled = new Set([...ASKED, 'POST /auth/token', 'POST /auth/token/refresh']);
    const isDone = () => {
      const asked = publishedNames(standIn.requests);
      return [...polled].every((name) => asked.has(name));
    };
    // What is missing after all that time is told by the comparison.
    await until('every operation of every collector', isDone).catch(() => {});
    program.kill('SIGTERM');
    await program.ended;
    expect(publishedNames(standIn.requests)).toEqual(new Set([...polled, 'DELETE /auth/token']));
    expect(new Set(kindsOf(standIn.requests))).toEqual(new Set(ALL_KINDS));
  });

  test.each([['--once'], ['--plan']])('with %s', async (command) => {
    const standIn = await startStandIn({ clock: systemClock, appliances: 2, volumes: 2 });
    onTestFinished(() => standIn.close());
    await run([command], { environment: { ...gfaEnvironment(standIn), ...portalEnvironment(standIn) } });
    expect(standIn.requests.length).toBeGreaterThan(1);
    expect(ALL_KINDS).toEqual(expect.arrayContaining([...kindsOf(standIn.requests)]));
  });
});

describe('nothing else can be sent', () => {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.startsWith('demo/'))
    .map((path) => [path, readFileSync(join(root, 'src', path), 'utf8')] as const);
  const holding = (text: RegExp) => sources.filter(([, source]) => text.test(source)).map(([path]) => path);

  test('one place speaks to the network, and it asks what is allowed first', () => {
    expect(holding(/\bdispatcher\.request\b|\.dispatch\(/)).toEqual(['transport/client.ts']);
    expect(holding(/\bfetch\(|\bhttps?\.request\b|\bnet\.connect\b|\btls\.connect\b/)).toEqual([]);
    expect(holding(/^import (?!type).* from 'undici'/m)).toEqual(['transport/dispatcher.ts']);
    const client = sources.find(([path]) => path === 'transport/client.ts')?.[1] ?? '';
    expect(client.match(/dispatcher\.request/g)).toHaveLength(1);
    expect(client).toMatch(/send\(request[^{]+\{\s+assertAllowed\(request, this\.#settings\.allowed\);/);
  });

  test('every request in the source that is no GET is one of those', () => {
    // The rows of what is allowed are no requests.
    const asking = sources.filter(([path]) => path !== 'sources/portal/requests.ts');
    const found = asking.flatMap(([path, source]) =>
      [...source.matchAll(/method: '([A-Z]+)',\s+path(?:: (['`][^'`]*['`]))?/g)].map(
        ([, method = '', written = 'path']) => `${path}: ${method} ${written}`,
      ),
    );
    const writing = found.filter((request) => !request.includes(': GET '));
    const token = 'sources/portal/token.ts';
    expect(new Set(writing)).toEqual(
      new Set([
        `${token}: DELETE '/auth/token'`,
        `${token}: POST '/auth/token'`,
        `${token}: POST '/auth/token/refresh'`,
        'sources/portal/appliances/telemetry.ts: POST path',
        'sources/portal/volumes/telemetry.ts: POST path',
      ]),
    );
    const methods = asking.flatMap(([, source]) => [...source.matchAll(/method: '[A-Z]+'/g)]);
    expect(methods).toHaveLength(found.length);
  });

  test('every operation of the catalogue passes for a serial, and for none that is a path', () => {
    const names = [...operationsFor([...STANDARD_SERIES, ...FURTHER_SERIES]).keys()];
    expect(names).toHaveLength(STANDARD_SERIES.length + FURTHER_SERIES.length);
    for (const name of names) {
      const path = (serial: string) => `/telemetry/appliances/${serial}/${name}`;
      expect(() =>
        assertAllowed({ method: 'POST', path: path('0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f') }, portalRequests),
      ).not.toThrow();
      for (const serial of ['..', '../../edges', 'a/b', '%2e%2e', 'a?b', 'a#b', '']) {
        expect(() => assertAllowed({ method: 'POST', path: path(serial) }, portalRequests), serial).toThrow(
          'the exporter only reads',
        );
      }
    }
  });
});

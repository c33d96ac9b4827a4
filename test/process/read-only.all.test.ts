// Only here: a request of the whole process that could change something at a service.
import { describe, expect, test } from 'vitest';
import type { SeenRequest } from '../../src/demo/mock-services.ts';
import { runHere } from '../support/command.ts';
import { coverage } from '../support/coverage.ts';
import { beyond, published } from '../support/endpoints.ts';
import { start } from '../support/program.ts';
import { realServices } from '../support/real-services.ts';
import { until } from '../support/until.ts';

const ENDPOINTS = [...published, ...beyond];

const PATTERNS = ENDPOINTS.map((of) => ({
  of,
  pattern: new RegExp(`^${of.method} ${of.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** All that may ever be sent, and there is no fifth. What reads is POST only where the service has it so. */
const KINDS: Readonly<Record<string, RegExp>> = {
  'any GET': /^GET /,
  'getting a token': /^POST \/auth\/token(?:\/refresh)?$/,
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

describe('every request of the program is of one of four kinds', () => {
  test('[writing-requests] with every operation of every series and collector, through renewals, rejections and the end', async () => {
    const variations = { tokenLifetimeMs: 3_000, rateLimit: null };
    const { mocks, environment: services } = await realServices({ appliances: 2, variations });
    mocks.fail({ kind: 'status', status: 401, operation: 'load_average', times: 2 });
    const quick = {
      PORTAL_INTERVAL: '1s',
      PORTAL_DISCOVERY_INTERVAL: '1s',
      PORTAL_SERIES: 'all,appliance_health_score=1s',
      PORTAL_COLLECTORS: 'all=5s',
      PORTAL_RATE_LIMIT: '3000/30s',
    };
    const environment = { ...services, ...quick };
    const program = start([], { environment });
    const polled = new Set([...ASKED, 'POST /auth/token', 'POST /auth/token/refresh']);
    const isDone = () => {
      const asked = publishedNames(mocks.requests);
      return [...polled].every((name) => asked.has(name));
    };
    // What is missing after all that time is told by the comparison.
    await until('every operation of every collector', isDone).catch(() => {});
    program.kill('SIGTERM');
    await program.ended;
    expect(publishedNames(mocks.requests)).toEqual(new Set([...polled, 'DELETE /auth/token']));
    expect(new Set(kindsOf(mocks.requests))).toEqual(new Set(ALL_KINDS));
  });

  test.each([['--once'], ['--plan']])('with %s', async (command) => {
    const { mocks, environment } = await realServices({ appliances: 2 });
    await runHere([command], { environment });
    expect(mocks.requests.length).toBeGreaterThan(1);
    expect(ALL_KINDS).toEqual(expect.arrayContaining([...kindsOf(mocks.requests)]));
  });
});

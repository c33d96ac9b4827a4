// Only here: a request of the whole process that could change something at a service.
import { expect, test } from 'vitest';
import type { SeenRequest } from '../../src/demo/mock-services.ts';
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

test('[writing-requests] every request only reads or is about a token: of every series and collector, through renewals, rejections and the end', async () => {
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
});

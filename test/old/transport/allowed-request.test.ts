import { expect, test } from 'vitest';
import { ForbiddenRequestError } from '../../src/runtime/errors.ts';
import { portalRequests } from '../../src/services/portal/allowed-requests.ts';
import { assertAllowed, type Method } from '../../src/transport/allowed-request.ts';
import fc from '../support/fast-check.ts';

test.each<[Method, string]>([
  ['GET', '/data'],
  ['GET', '/anything/at/all'],
  ['POST', '/auth/token'],
  ['POST', '/auth/token/refresh'],
  ['POST', '/telemetry/appliances/0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f/cpu_utilization'],
  ['POST', '/telemetry/volumes/0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f_0/accessible_data'],
  ['DELETE', '/auth/token'],
])('%s %s only reads, or concerns our own token, and is sent', (method, path) => {
  expect(() => assertAllowed({ method, path }, portalRequests)).not.toThrow();
});

test.each<[string, string]>([
  ['POST', '/auth/token/'],
  ['DELETE', '/auth/token/refresh'],
  ['POST', '/data'],
  ['POST', '/telemetry/appliances/cpu_utilization'],
  ['POST', '/telemetry/appliances/a/b/cpu_utilization'],
  ['POST', '/telemetry/appliances/../cpu_utilization'],
  ['POST', '/telemetry/appliances/%2e%2e/cpu_utilization'],
  ['POST', '/telemetry/appliances/a?b=/cpu_utilization'],
  ['POST', '/telemetry/appliances/a/cpu_utilization?x=1'],
  ['POST', '/telemetry/appliances/a/cpu_utilization\n'],
  ['POST', '/telemetry/users/a/cpu_utilization'],
  ['DELETE', '/edges'],
  ['PUT', '/auth/token'],
  ['PATCH', '/edges/a'],
  ['get', '/data'],
])('%s %s is never sent', (method, path) => {
  expect(() => assertAllowed({ method: method as Method, path }, portalRequests)).toThrow(ForbiddenRequestError);
});

test('whatever the path, only a GET may leave without being on the list', () => {
  fc.assert(
    fc.property(fc.constantFrom('POST', 'DELETE', 'PUT', 'PATCH'), fc.webPath(), (method, path) => {
      expect(() => assertAllowed({ method: method as Method, path }, portalRequests)).toThrow(
        `${method} ${path} is not sent: `,
      );
    }),
  );
});

test('a service that asks for nothing else is sent nothing but GET', () => {
  expect(() => assertAllowed({ method: 'GET', path: '/data' }, [])).not.toThrow();
  expect(() => assertAllowed({ method: 'POST', path: '/auth/token' }, [])).toThrow(ForbiddenRequestError);
});

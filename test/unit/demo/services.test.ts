import { expect, test } from 'vitest';
import { credentials, type DemoRequest, SimulatedServices } from '../../../src/demo/services.ts';
import { ManualClock } from '../../harness/manual-clock.ts';

type Asked = Partial<DemoRequest> & Pick<DemoRequest, 'path'>;

/** Simulated services on a manual clock, and what they respond to a request. */
function startServices(options: ConstructorParameters<typeof SimulatedServices>[1] = {}) {
  const clock = new ManualClock();
  const services = new SimulatedServices(clock, options);
  const ask = (service: 'gfa' | 'portal', { method = 'GET', headers = {}, body = '', path }: Asked) => {
    const { body: text, ...sent } = services.respond(service, { method, path, headers, body });
    return { ...sent, json: text === '' ? undefined : JSON.parse(text) };
  };
  return { clock, services, ask };
}

const MINUTE = 60_000;

/** The events that a client receives, as texts. */
function eventsOf({ ask }: ReturnType<typeof startServices>, client: string): readonly string[] {
  const headers = { authorization: credentials.gfaToken, 'x-service-client-key': client };
  const [{ locks, propagation }] = ask('gfa', { path: '/data', headers }).json.metrics;
  return [...locks, ...propagation].map((event) => JSON.stringify(event));
}

test('each client key receives each event once, and a new one receives the last hour', async () => {
  const demo = startServices();
  const received = [...eventsOf(demo, 'one')];
  expect(received.length).toBeGreaterThan(300);
  expect(eventsOf(demo, 'one')).toEqual([]);
  for (let minute = 0; minute < 30; minute += 1) {
    await demo.clock.advance(MINUTE);
    received.push(...eventsOf(demo, 'one'));
  }
  demo.services.set({ historyMs: 90 * MINUTE });
  expect(received.toSorted()).toEqual(eventsOf(demo, 'other').toSorted());
});

const burst = { requests: 2, windowMs: 30_000 };

test('a request beyond the burst limit returns 429 until the oldest has left the window, and says when to come back', async () => {
  const { ask, clock, services } = startServices({ limits: { burst, daily: 1_000, retryAfter: 'seconds' } });
  const health = () => ask('portal', { path: '/health' });
  expect(health().status).toBe(200);
  await clock.advance(20_500);
  expect(health().status).toBe(200);
  expect(health()).toMatchObject({
    status: 429,
    headers: { 'retry-after': '10' },
    json: { message: 'Too Many Requests' },
  });
  services.set({ limits: { burst, daily: 1_000, retryAfter: 'date' } });
  expect(health().headers['retry-after']).toBe('Mon, 02 Mar 2026 10:00:30 GMT');
  await clock.advance(9_500);
  expect([health().status, health().status]).toEqual([200, 429]);
});

test('a request beyond the daily limit returns 429 without Retry-After until the next day', async () => {
  const { ask, clock } = startServices({ limits: { burst, daily: 1, retryAfter: 'seconds' } });
  const health = () => ask('portal', { path: '/health' });
  expect([health().status, health().status]).toEqual([200, 429]);
  expect(health().headers).not.toHaveProperty('retry-after');
  await clock.advance(14 * 3_600_000);
  expect(health().status).toBe(200);
});

const { serviceKey, serviceSecret, userKey } = credentials;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const formBody = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();
const userSignIn = { method: 'POST', path: '/auth/token', headers: { 'x-user-key': userKey } };

test.each([
  ['service key headers', { headers: { 'x-service-key': serviceKey, 'x-service-secret': serviceSecret }, body: '{}' }],
  ['a user key header', { headers: { 'x-user-key': userKey } }],
  [
    'a form',
    {
      headers: FORM,
      body: formBody({ grant_type: 'client_credentials', client_id: serviceKey, client_secret: serviceSecret }),
    },
  ],
])('signing in with %s gives a token that opens the inventory', (_, request) => {
  const { ask } = startServices();
  const { status, json } = ask('portal', { method: 'POST', path: '/auth/token', ...request });
  expect([status, json.token_type]).toEqual([200, 'bearer']);
  const headers = { authorization: `Bearer ${json.access_token}` };
  expect(ask('portal', { path: '/serials', headers }).status).toBe(200);
});

test('a refresh token works once, and using it again ends all tokens that came of signing in', () => {
  const { ask, clock, services } = startServices();
  const refresh = ({ access_token, refresh_token }: Readonly<Record<string, string>>) => {
    const headers = { authorization: `Bearer ${access_token}` };
    const body = JSON.stringify({ token: refresh_token });
    return ask('portal', { method: 'POST', path: '/auth/token/refresh', headers, body });
  };
  const first = ask('portal', userSignIn).json;
  const second = refresh(first);
  expect([second.status, services.portal.tokens.alive(clock.now())]).toEqual([200, 1]);
  expect([refresh(first).status, refresh(second.json).status]).toEqual([401, 401]);
  expect(services.portal.tokens.alive(clock.now())).toBe(0);
});

test('a token ends with its lifetime, and when it is revoked', async () => {
  const { ask, clock } = startServices({ tokenLifetimeMs: 60_000 });
  const statusOf = (token: string) =>
    ask('portal', { path: '/jobs', headers: { authorization: `Bearer ${token}` } }).status;
  const expiring = ask('portal', userSignIn).json.access_token;
  expect(statusOf(expiring)).toBe(200);
  await clock.advance(60_000);
  expect(statusOf(expiring)).toBe(401);
  const revoked = ask('portal', userSignIn).json.access_token;
  ask('portal', { method: 'DELETE', path: '/auth/token', headers: { authorization: `Bearer ${revoked}` } });
  expect(statusOf(revoked)).toBe(401);
});

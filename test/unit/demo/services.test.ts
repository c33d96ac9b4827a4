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
  const health = () => ask('portal', { path: '/health' });
  const signIn = (how: Partial<DemoRequest>) => ask('portal', { method: 'POST', path: '/auth/token', ...how }).json;
  const serialsWith = (token: string) =>
    ask('portal', { path: '/serials', headers: { authorization: `Bearer ${token}` } }).status;
  return { clock, services, ask, health, signIn, serialsWith };
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
  const { health, clock, services } = startServices({ limits: { burst, daily: 1_000, retryAfter: 'seconds' } });
  expect(health().status).toBe(200);
  await clock.advance(20_500);
  expect(health().status).toBe(200);
  const json = { message: 'Too Many Requests' };
  expect(health()).toMatchObject({ status: 429, headers: { 'retry-after': '10' }, json });
  services.set({ limits: { burst, daily: 1_000, retryAfter: 'date' } });
  expect(health().headers['retry-after']).toBe('Mon, 02 Mar 2026 10:00:30 GMT');
  await clock.advance(9_500);
  expect([health().status, health().status]).toEqual([200, 429]);
});

test('a request beyond the daily limit returns 429 without Retry-After until the next day', async () => {
  const { health, clock } = startServices({ limits: { burst, daily: 1, retryAfter: 'seconds' } });
  expect([health().status, health().status]).toEqual([200, 429]);
  expect(health().headers).not.toHaveProperty('retry-after');
  await clock.advance(14 * 3_600_000);
  expect(health().status).toBe(200);
});

const { serviceKey, serviceSecret, userKey } = credentials;
const form = { grant_type: 'client_credentials', client_id: serviceKey, client_secret: serviceSecret };
const asForm = {
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(form).toString(),
};
const asUser = { headers: { 'x-user-key': userKey } };

test.each([
  ['service key headers', { headers: { 'x-service-key': serviceKey, 'x-service-secret': serviceSecret }, body: '{}' }],
  ['a user key header', asUser],
  ['a form', asForm],
])('signing in with %s gives a token that opens the inventory for its lifetime', async (_, request) => {
  const { signIn, serialsWith, clock } = startServices({ tokenLifetimeMs: 60_000 });
  const { access_token: token, token_type } = signIn(request);
  expect([token_type, serialsWith(token)]).toEqual(['bearer', 200]);
  await clock.advance(59_999);
  expect(serialsWith(token)).toBe(200);
  await clock.advance(1);
  expect(serialsWith(token)).toBe(401);
});

test('a refresh token works once, and using it again ends all tokens that came of signing in; a token can be revoked', () => {
  const { ask, signIn, serialsWith } = startServices();
  const refresh = ({ access_token, refresh_token }: Readonly<Record<string, string>>) => {
    const headers = { authorization: `Bearer ${access_token}` };
    const body = JSON.stringify({ token: refresh_token });
    return ask('portal', { method: 'POST', path: '/auth/token/refresh', headers, body });
  };
  const [first, other] = [signIn(asUser), signIn(asUser)];
  const second = refresh(first).json;
  const statuses = () => [first, second, other].map(({ access_token }) => serialsWith(access_token));
  expect(statuses()).toEqual([200, 200, 200]);
  expect([refresh(first).status, refresh(second).status]).toEqual([401, 401]);
  expect(statuses()).toEqual([401, 401, 200]);
  ask('portal', { method: 'DELETE', path: '/auth/token', headers: { authorization: `Bearer ${other.access_token}` } });
  expect(statuses()).toEqual([401, 401, 401]);
});

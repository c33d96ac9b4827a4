import { request } from 'undici';
import { expect, test } from 'vitest';
import { startStandIn } from '../../src/demo/stand-in.ts';
import { MINUTE_MS } from '../../src/demo/world/signals.ts';
import { ManualClock, settle } from '../support/manual-clock.ts';
import { ask, data, get, group, serialOf, start, telemetry } from './ask.ts';

test('a status fault has the error body of its service, unless told otherwise', async () => {
  const { standIn } = await start();
  const lift = standIn.fail({ kind: 'status', status: 500 });
  expect(await data(standIn)).toMatchObject({ status: 500, json: { error: expect.any(String) } });
  expect(await ask('GET', `${standIn.portalUrl}/health`)).toMatchObject({ status: 500, json: { detail: null } });
  lift();
  standIn.fail({ kind: 'status', status: 422, operation: 'health', times: 1 });
  const refused = await ask('GET', `${standIn.portalUrl}/health`);
  expect(refused).toMatchObject({ status: 422, json: { detail: [{ msg: 'Injected fault' }] } });
  expect((await data(standIn)).status).toBe(200);
  standIn.fail({ kind: 'status', status: 403, operation: 'data' });
  expect(await data(standIn)).toMatchObject({ status: 403, text: '' });
  standIn.fail({ kind: 'status', status: 503, operation: 'health', headers: { 'retry-after': '7' }, body: '<html>' });
  const heard = await ask('GET', `${standIn.portalUrl}/health`);
  expect(heard).toMatchObject({ status: 503, text: '<html>', headers: { 'retry-after': '7' } });
});

test('a fault can be about one operation, a pattern of them, one appliance, and so many times', async () => {
  const { standIn } = await start();
  const [lyon, osaka] = [serialOf(standIn, 'edge-lyon'), serialOf(standIn, 'edge-osaka')];
  standIn.fail({ kind: 'status', status: 404, operation: /^cache_/g, serial: lyon });
  const status = async (serial: string, segment: string) => (await telemetry(standIn, serial, segment)).status;
  expect(await status(lyon, 'cache_utilization')).toBe(404);
  expect(await status(lyon, 'cache_disk_iops')).toBe(404);
  expect(await status(lyon, 'cpu_utilization')).toBe(200);
  expect(await status(osaka, 'cache_utilization')).toBe(200);
  standIn.fail({ kind: 'status', status: 502, operation: 'edges', times: 2 });
  const edges = async () => (await get(standIn, '/edges')).status;
  expect([await edges(), await edges(), await edges()]).toEqual([502, 502, 200]);
});

test('a reset is no answer at all, and the request is on record', async () => {
  const { standIn } = await start();
  standIn.fail({ kind: 'reset', times: 1 });
  await expect(data(standIn)).rejects.toThrow();
  expect(standIn.requests).toMatchObject([{ operation: 'data', status: undefined }]);
  expect((await data(standIn)).status).toBe(200);
});

test('a cut answer breaks in the middle of its body and has moved the bookmark', async () => {
  const { standIn } = await start();
  standIn.fail({ kind: 'cut', times: 1 });
  const { statusCode, body } = await request(`${standIn.gfaUrl}/data`, {
    headers: { authorization: standIn.credentials.gfaToken },
  });
  expect(statusCode).toBe(200);
  await expect(body.text()).rejects.toThrow();
  expect(group(await data(standIn), 'locks')).toEqual([]);
});

test('an empty answer can be cut too', async () => {
  const { standIn } = await start();
  standIn.fail({ kind: 'cut' });
  const outcome = await ask('GET', `${standIn.gfaUrl}/data`).then(
    ({ status }) => status,
    () => 'broken',
  );
  expect([401, 'broken']).toContain(outcome);
});

test('a hanging request gets nothing until the client or the stand-in gives up', async () => {
  const { standIn } = await start();
  standIn.fail({ kind: 'hang', times: 1 });
  const leaving = new AbortController();
  const asked = request(`${standIn.portalUrl}/health`, { signal: leaving.signal });
  const refused = expect(asked).rejects.toThrow();
  while (standIn.requests.length === 0) await settle();
  leaving.abort();
  await refused;
  expect((await ask('GET', `${standIn.portalUrl}/health`)).status).toBe(200);
});

test('a hanging body has its headers and its first half', async () => {
  const { standIn } = await start();
  standIn.fail({ kind: 'hang-body', times: 1 });
  const { statusCode, headers, body } = await request(`${standIn.portalUrl}/health`);
  const [first] = await body.take(1).toArray();
  expect(statusCode).toBe(200);
  expect(headers['content-length']).toBe('16');
  expect(String(first)).toBe('{"health');
});

test('a dripping body arrives at one byte a second', async () => {
  const { standIn, clock } = await start();
  standIn.fail({ kind: 'drip' });
  const { body } = await request(`${standIn.portalUrl}/health`);
  const text = body.text();
  await clock.advance(16_000);
  expect(JSON.parse(await text)).toEqual({ healthy: true });
  expect(clock.sleeping).toBe(0);
});

test('a body fault answers 200 with something else', async () => {
  const { standIn } = await start();
  standIn.fail({
    kind: 'body',
    body: '<p>Sign in</p>',
    contentType: 'text/html',
    headers: { 'x-gate': 'yes' },
    times: 1,
  });
  const heard = await ask('GET', `${standIn.portalUrl}/health`);
  expect(heard).toMatchObject({ status: 200, text: '<p>Sign in</p>' });
  expect(heard.headers).toMatchObject({ 'content-type': 'text/html', 'x-gate': 'yes' });
  standIn.fail({ kind: 'body', body: Buffer.from([0xff, 0xfe]) });
  expect((await ask('GET', `${standIn.portalUrl}/health`)).headers['content-length']).toBe('2');
});

test('latency is slept through on the clock', async () => {
  const { standIn, clock } = await start({ variations: { latencyMs: 3_000 } });
  const asked = ask('GET', `${standIn.portalUrl}/health`);
  while (clock.sleeping === 0) await settle();
  await clock.advance(3_000);
  expect((await asked).status).toBe(200);
});

test('closing ends at once, whatever is open', async () => {
  const clock = new ManualClock();
  const standIn = await startStandIn({ clock });
  standIn.fail({ kind: 'hang', operation: 'health' });
  standIn.fail({ kind: 'drip', operation: 'data' });
  const refused = [
    expect(ask('GET', `${standIn.portalUrl}/health`)).rejects.toThrow(),
    expect(data(standIn)).rejects.toThrow(),
  ];
  while (clock.sleeping === 0 || standIn.requests.length < 2) await settle();
  await standIn.close();
  await Promise.all(refused);
  await clock.advance(MINUTE_MS);
  expect(clock.sleeping).toBe(0);
});

test('only the newest 10,000 requests are remembered, with what they said', async () => {
  const { standIn } = await start({ variations: { rateLimit: null } });
  await ask('POST', `${standIn.portalUrl}/auth/token`, { headers: { 'x-user-key': 'me' } });
  expect(standIn.requests.at(-1)).toMatchObject({ operation: 'token', body: '', headers: { 'x-user-key': 'me' } });
  const batch = () => Promise.all(Array.from({ length: 100 }, () => ask('GET', `${standIn.portalUrl}/health`)));
  for (let round = 0; round < 101; round += 1) await batch();
  expect(standIn.requests).toHaveLength(10_000);
  expect(standIn.requests[0]?.operation).toBe('health');
});

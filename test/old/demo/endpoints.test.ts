import { expect, test } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { portalRequests } from '../../src/services/portal/allowed-requests.ts';
import { assertAllowed } from '../../src/transport/allowed-request.ts';
import { type Covered, coverage } from '../support/coverage.ts';
import { beyond, type Endpoint, isOfToken, onlyReads, published } from '../support/endpoints.ts';
import { ask, data, get, type Heard, items, signIn, start } from './ask.ts';

/** Where an identifier of a path comes from: a list, and the field of its first item. */
const lists: Readonly<Record<string, readonly [path: string, field: string]>> = {
  edge_id: ['/edges', 'id'],
  api_key: ['/gfa/api_keys', 'key'],
  serial_number: ['/serials?type=edge', 'id'],
};

/** A path with every identifier in braces replaced by one that there is. */
async function filled(mocks: MockServices, template: string): Promise<string> {
  let path = template;
  for (const [braces, name = ''] of template.matchAll(/\{(\w+)\}/g))
    path = path.replace(braces, await one(mocks, name));
  return path;
}

async function one(mocks: MockServices, name: string): Promise<string> {
  if (name === 'volume_id') return connected(mocks);
  const list = lists[name];
  if (list === undefined) throw new Error(`nobody knows where a ${name} comes from`);
  return String(items(await get(mocks, list[0]))[0]?.[list[1]]);
}

/** A volume that the first edge is connected to. */
function connected({ fleet }: MockServices): string {
  const [guid] = fleet.appliances.find(({ kind }) => kind === 'edge')?.volumes ?? [];
  return fleet.volumes.find((volume) => volume.guid === guid)?.portalId ?? '';
}

const isRequested = ({ collectors }: Covered) => collectors.length > 0;
const reading = coverage([...published, ...beyond])
  .filter(isRequested)
  .map(({ endpoint }) => endpoint);
const notRequested = coverage([...published, ...beyond]).filter((covered) => !isRequested(covered));
/** A collector that docs/adding.md adds requests it. */
const ADDED = '/activity-logs/records';
const writing = published.filter((endpoint) => !onlyReads(endpoint) && !isOfToken(endpoint));

/** An operation, and the file to change if the mock services do not know it. */
const name = ({ method, path }: Endpoint) => {
  const file = path.startsWith('/telemetry/appliances/') ? 'appliances/series.ts' : 'operations.ts';
  return `${method} ${path} (src/demo/portal/${file})`;
};

test('the fixtures hold the published interfaces', () => {
  expect(published).toHaveLength(119);
  expect(new Set(reading.map(name)).size).toBe(reading.length);
  expect(writing.length).toBeGreaterThan(30);
});

test('an operation that the exporter does not request is unknown to the mock services', async () => {
  const { mocks } = await start();
  const { access } = await signIn(mocks);
  for (const { endpoint } of notRequested) {
    const heard = await sent(mocks, endpoint, withUnknownIds(endpoint), access);
    expect(heard.status, name(endpoint)).toBe(endpoint.path === ADDED ? 200 : 404);
  }
});

test('every operation that the exporter requests is answered, in its documented form', async () => {
  const { mocks } = await start();
  expect((await data(mocks)).status).toBe(200);
  for (const endpoint of reading.filter(({ service }) => service === 'portal')) {
    const heard = await asked(mocks, endpoint, (await signIn(mocks)).access);
    expect(heard.status, name(endpoint)).toBe(200);
    expect(heard.json, name(endpoint)).toEqual(expect.anything());
  }
});

test('no operation but those of token and health is answered without a token', async () => {
  const { mocks } = await start();
  for (const endpoint of reading.filter(({ service }) => service === 'portal')) {
    const { status } = await asked(mocks, endpoint, undefined);
    expect(status, name(endpoint)).toBe(endpoint.path === '/health' ? 200 : 401);
  }
});

test('the right to each operation can be taken away by its name', async () => {
  const { mocks } = await start();
  const { access } = await signIn(mocks);
  for (const endpoint of reading.filter(({ service, path }) => service === 'portal' && path !== '/health')) {
    await asked(mocks, endpoint, access);
    const operation = mocks.requests.at(-1)?.operation ?? '';
    mocks.vary({ forbidden: [operation] });
    expect(await asked(mocks, endpoint, access), name(endpoint)).toMatchObject({
      status: 403,
      json: { detail: null },
    });
    mocks.vary({ forbidden: [] });
  }
});

test('what would change something is refused by the mock services, and never sent by the exporter', async () => {
  const { mocks } = await start();
  for (const endpoint of writing) {
    const path = withUnknownIds(endpoint);
    expect((await ask(endpoint.method, `${mocks.portalUrl}${path}`)).status, name(endpoint)).toBe(405);
    // The exporter has no other methods at all.
    if (endpoint.method === 'POST' || endpoint.method === 'DELETE') {
      const { method } = endpoint;
      expect(() => assertAllowed({ method, path }, portalRequests), name(endpoint)).toThrow('the exporter only reads');
    }
  }
});

test('an identifier that nobody has is 404, and one of another form is 422', async () => {
  const { mocks } = await start();
  const { access } = await signIn(mocks);
  const complaint = expect.objectContaining({ loc: ['path', expect.any(String)] });
  for (const endpoint of reading.filter(({ path }) => path.includes('{'))) {
    const unknown = await sent(mocks, endpoint, withUnknownIds(endpoint), access);
    expect(unknown.status, name(endpoint)).toBe(404);
    const odd = await sent(mocks, endpoint, endpoint.path.replaceAll(/\{\w+\}/g, 'nobody'), access);
    // A volume's id may be any text; every other identifier is a UUID.
    const hasUuid = /\{(?!volume_id)/.test(endpoint.path);
    expect(odd.status, name(endpoint)).toBe(hasUuid ? 422 : 404);
    if (hasUuid) expect(odd.json, name(endpoint)).toMatchObject({ detail: expect.arrayContaining([complaint]) });
  }
});

function withUnknownIds({ path }: Endpoint): string {
  return path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000');
}

async function asked(mocks: MockServices, endpoint: Endpoint, access: string | undefined): Promise<Heard> {
  return sent(mocks, endpoint, await filled(mocks, endpoint.path), access);
}

function sent(mocks: MockServices, { method, path }: Endpoint, to: string, access: string | undefined): Promise<Heard> {
  const serials = mocks.fleet.appliances.map(({ serial }) => serial);
  const body = { period: 'PT1H', ...(path.startsWith('/telemetry/volumes/') ? { serial_numbers: serials } : {}) };
  return ask(method, `${mocks.portalUrl}${to}`, {
    headers: {
      ...(access === undefined ? {} : { authorization: `Bearer ${access}` }),
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    },
    ...(method === 'POST' ? { body: JSON.stringify(body) } : {}),
  });
}

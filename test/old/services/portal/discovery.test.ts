import { describe, expect, test, vi } from 'vitest';
import type { PollResult } from '../../../src/contract/poll-result.ts';
import type { PortalOptions } from '../../../src/services/portal/collector-options.ts';
import { mockApi, type Reply, token } from '../../support/mock-api.ts';
import { outcomeOf, portalCollector, uuid } from '../../support/portal-parts.ts';

import { A, B, discover, FORBIDDEN, ids, list, portal } from './discovery.ts';

const withEdges = { collectors: [{ name: 'edges', intervalMs: 3_600_000 }] };

describe('the inventory task', () => {
  test('asks for the edges and the file_iq in use, each type in a request of its own', async () => {
    const api = portal(list(), list(), list());
    await discover(portalCollector(api));
    expect(api.sent.slice(1).map(({ method, path }) => `${method} ${path.replace(/\?$/, '')}`)).toEqual([
      'GET /v1/serials?type=edge&in_use=true',
      'GET /v1/serials?type=file_iq&in_use=true',
      'GET /v1/edges',
    ]);
  });

  test('is as old as its first answer, however long the others take', async () => {
    const api = mockApi();
    api.answer('POST', '/auth/token', token('one'));
    api.answer('GET', '/serials', list({ id: A, type: 'edge' }), list());
    api.answer('GET', '/edges', [200, { items: [] }, api.clock.sleep(20_000)]);
    const polled = discover(portalCollector(api));
    await api.clock.advance(20_000);
    expect((await polled).respondedAt).toBe(0);
  });

  const edge = { serial: A, description: 'a', is_reachable: true };
  const reachable = ({ samples }: PollResult) =>
    [...samples].flatMap(({ name, value }) => (name === 'filer_appliance_reachable' ? [value] : []));

  test('shows what GET /edges has just said though nothing may be older than one interval', async () => {
    const api = portal(list({ id: A, type: 'edge' }), list(), list(edge));
    // Time passes between any two looks at the clock.
    let now = 0;
    vi.spyOn(api.clock, 'monotonic').mockImplementation(() => {
      now += 1;
      return now;
    });
    expect(reachable(await discover(portalCollector(api, { ...withEdges, staleAfter: 1 })))).toEqual([1]);
  });

  test('shows what GET /edges said while that is fresh and no longer, and keeps the names', async () => {
    const api = portal(list({ id: A, type: 'edge' }), list(), list(edge));
    const collector = portalCollector(api, withEdges);
    /** A round after `ms` in which `GET /edges` fails. */
    const without = async (ms: number) => {
      await api.clock.advance(ms);
      api.answer('GET', '/serials', list({ id: A, type: 'edge' }), list());
      api.answer('GET', '/edges', [404, undefined]);
      return discover(collector);
    };
    expect(reachable(await discover(collector))).toEqual([1]);
    // Until the round after the next one it would be older than three intervals of a quarter of an hour.
    const once = await without(900_000);
    expect([reachable(once), once.respondedAt]).toEqual([[1], 0]);
    const twice = await without(900_000);
    expect([reachable(twice), twice.respondedAt]).toEqual([[], 1_800_000]);
    expect(collector.appliances.map(({ name }) => name)).toEqual(['a']);
  });

  test('fails when everything is forbidden and nobody has listed the serials', async () => {
    const collector = portalCollector(portal(FORBIDDEN, FORBIDDEN, FORBIDDEN));
    await expect(discover(collector)).rejects.toThrow('GET /serials or GET /edges returned 403');
  });

  test('of not enough memory for all appliances polls the first of them, and counts the others', async () => {
    const serials = Array.from({ length: 12 }, (_, index) => uuid(index));
    const all = list(...serials.map((id) => ({ id, type: 'edge' })));
    const collector = portalCollector(portal(all, list(), list()), { maxAppliances: 10 });
    const { drops } = await discover(collector);
    expect(collector.appliances.map(({ serial }) => serial)).toEqual(serials.slice(0, 10));
    expect(ids(collector)).toHaveLength(1 + 10);
    expect(Object.fromEntries(drops)).toEqual({ record: 2 });
  });

  test('longer than is read at once is a gap that says what to do, and leaves the appliances as they were', async () => {
    const api = portal(list({ id: A, type: 'edge' }), list(), list());
    const collector = portalCollector(api);
    await discover(collector);
    api.answer('GET', '/serials', list(...Array.from({ length: 20_001 }, () => ({}))), list());
    api.answer('GET', '/edges', list());
    await outcomeOf(api, discover(collector));
    expect(collector.inventory.gaps).toEqual([
      {
        list: 'edge_serials',
        reason: 'oversize',
        happened: expect.stringContaining('at most 20000 records, got 20001'),
        advice: expect.stringContaining('PORTAL_SERIALS'),
      },
    ]);
    expect(collector.appliances.map(({ serial }) => serial)).toEqual([A]);
  });

  test('of which no list is one leaves the appliances as they were', async () => {
    const api = portal(list({ id: A, type: 'edge' }), list(), list());
    const collector = portalCollector(api);
    await discover(collector);
    for (const body of ['maintenance', undefined, { items: [null, { id: 'none' }] }]) {
      api.answer('GET', '/serials', [200, body], [200, body]);
      api.answer('GET', '/edges', [200, body]);
      expect(await outcomeOf(api, discover(collector))).toMatchObject({ name: 'SchemaError' });
    }
    expect(collector.appliances.map(({ serial }) => serial)).toEqual([A]);
  });
});

describe('each list of the inventory stands for itself', () => {
  const edgesOf = (...serials: readonly string[]) => list(...serials.map((serial, id) => ({ serial, id: uuid(id) })));

  async function found(edge: Reply, fileIq: Reply, edges: Reply, settings: Partial<PortalOptions> = withEdges) {
    const api = portal(edge, fileIq, edges);
    const collector = portalCollector(api, settings);
    const outcome = await outcomeOf(api, discover(collector));
    const serials = collector.appliances.map(({ serial }) => serial);
    const gaps = collector.inventory.gaps.map(({ list: name, reason }) => `${name} ${reason}`);
    return { serials, gaps, outcome };
  }

  const ERROR: Reply = [501, { message: 'Not implemented' }];

  test('a list of edges’ serials that fails keeps those that it named, and new ones come by GET /edges', async () => {
    const api = portal(list({ id: A, type: 'edge' }, { id: uuid(1), type: 'edge' }), list(), edgesOf(A));
    const collector = portalCollector(api, withEdges);
    await discover(collector);
    api.answer('GET', '/serials', ERROR, list());
    api.answer('GET', '/edges', edgesOf(A, B));
    await discover(collector);
    expect(collector.appliances.map(({ serial }) => serial)).toEqual([A, uuid(1), B]);
  });

  const others = list({ id: uuid(1), type: 'edge' }, { id: uuid(2), type: 'edge' });
  const ofA = list({ id: A, type: 'edge' });
  const fileIq = list({ id: A, type: 'file_iq' });
  const off = { collectors: [] };

  test.each<[string, Reply, Reply, Reply, Partial<PortalOptions>, readonly string[], readonly string[]]>([
    [
      'edges that GET /serials names otherwise',
      others,
      list(),
      edgesOf(A, B),
      withEdges,
      [A, B],
      ['edge_serials other_ids'],
    ],
    ['edges that GET /serials leaves out', list(), list(), edgesOf(A, B), withEdges, [A, B], ['edge_serials empty']],
    ['edges that GET /edges leaves out', ofA, list(), list(), withEdges, [A], ['edges empty']],
    ['edges that GET /edges leaves out, without its collector', ofA, list(), list(), off, [A], []],
    ['file_iq without any edge', list(), fileIq, list(), withEdges, [A], []],
    [
      'file_iq that the portal does not know',
      ofA,
      [404, undefined],
      edgesOf(A),
      withEdges,
      [A],
      ['file_iq_serials not_found'],
    ],
    ['forbidden file_iq', ofA, FORBIDDEN, edgesOf(A), withEdges, [A], ['file_iq_serials forbidden']],
    ['no appliance at all', list(), list(), list(), withEdges, [], ['all empty']],
    ['no appliance but those of PORTAL_SERIALS', list(), list(), list(), { ...withEdges, serials: [A] }, [A], []],
    ['a forbidden GET /edges', ofA, list(), FORBIDDEN, withEdges, [A], ['edges forbidden']],
    ['a forbidden GET /edges, without its collector', ofA, list(), FORBIDDEN, off, [A], []],
    [
      'forbidden serials',
      FORBIDDEN,
      FORBIDDEN,
      edgesOf(B),
      off,
      [B],
      ['edge_serials forbidden', 'file_iq_serials forbidden'],
    ],
  ])('%s: who is polled, and what is told as a gap', async (_, edge, fileIqs, edges, settings, serials, gaps) => {
    expect(await found(edge, fileIqs, edges, settings)).toMatchObject({ serials, gaps });
  });

  test('what is empty fails where a list is missing: nobody knows what that one has', async () => {
    const { gaps, outcome } = await found(list(), ERROR, list());
    expect([gaps, outcome]).toEqual([['file_iq_serials server_error'], expect.objectContaining({ status: 501 })]);
  });
});

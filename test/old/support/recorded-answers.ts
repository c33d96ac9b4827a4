import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { upstreamCatalog } from '../../src/catalog.ts';
import { explainFor } from '../../src/contract/causes.ts';
import type { PollSink } from '../../src/contract/sink.ts';
import type { Task } from '../../src/contract/task.ts';
import { LineStore } from '../../src/exposition/store.ts';
import { Poller } from '../../src/polling/poller.ts';
import { Secret } from '../../src/runtime/secret.ts';
import { GfaClient } from '../../src/services/gfa/client.ts';
import { GfaCollector } from '../../src/services/gfa/collector.ts';
import { GROUPS } from '../../src/services/gfa/families.ts';
import { applianceStateFamilies } from '../../src/services/portal/appliances/series-families.ts';
import { portalCauses } from '../../src/services/portal/causes.ts';
import type { PortalCollector } from '../../src/services/portal/collector.ts';
import { ledgerSettings } from './gfa-answers.ts';
import { ManualClock } from './manual-clock.ts';
import { going, type MockApi, mockApi, noLog, token } from './mock-api.ts';
import { portalCollector } from './portal-parts.ts';
import { textOf } from './store-text.ts';

/** The appliance that the recorded series are about. */
export const SERIAL = 'a1d1b8de-4e2b-4d0c-9a7f-5a2b6c7d8e01';

/** Where a fixture is, relative to `test/fixtures`. */
export function fixturePath(name: string): string {
  return fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
}

/** A recorded answer; the name is the path below `test/fixtures` without `.json`. */
export function recorded(name: string): unknown {
  const path = fixturePath(`${name}.json`);
  expect(existsSync(path), `a recorded answer test/fixtures/${name}.json`).toBe(true);
  return JSON.parse(readFileSync(path, 'utf8'));
}

/** The exposition that a recorded answer of one series gives; the inventory is read before, for the appliance's name. */
export async function portalExposition(series: string, fixture = `portal/${series}`): Promise<string> {
  // Later builds do not have the series.
  const api = portalApi(undefined, series === 'memory_utilization' ? '10.0.3' : undefined);
  const collector = collectorOf(api, [series]);
  await [...collector.tasks()][0]?.poll(going);
  api.answer('POST', `/telemetry/appliances/${SERIAL}/${series}`, [200, recorded(fixture)]);
  return exposed(
    api,
    [...collector.tasks()].filter(({ id }) => id === `portal/${SERIAL}/${series}`),
  );
}

/** The exposition that the recorded lists of the inventory give. */
export function inventoryExposition(): Promise<string> {
  const api = portalApi();
  return exposed(api, [...collectorOf(api, []).tasks()]);
}

/** What each collector asks for beside the inventory, and the recorded answers: GET, or POST for what is below /telemetry. */
export const collectorAnswers: Readonly<Record<string, readonly (readonly [path: string, fixture: string])[]>> = {
  volumes: [['/volume_connections', 'volume_connections']],
  volume_telemetry: [
    ['/volume_connections', 'volume_connections'],
    ...['snapshot_details', 'snapshot_timeline', 'snapshot_propagation_by_appliance'].map(
      (segment) => [`/telemetry/volumes/3C2D9A54-77aa-4a0b-8a34-0f6f4b0f7f01_0/${segment}`, segment] as const,
    ),
  ],
  edges: [['/edges/0f0e0d0c-0b0a-4908-8706-050403020100', 'edges_edge_id']],
  fiq: [['/fiq_appliances', 'fiq_appliances']],
  license: [
    ['/account/license', 'account_license'],
    ['/account', 'account'],
    ['/account/ai_activate', 'account_ai_activate'],
  ],
  notifications: [['/notifications', 'notifications']],
  jobs: [['/jobs', 'jobs']],
  credentials: [['/cloud-credentials', 'cloud_credentials']],
  indexing: [
    ['/ai_activate/inventories', 'ai_activate_inventories'],
    ['/ai_activate/indexes', 'ai_activate_indexes'],
  ],
  stacks: [['/uaas/stacks', 'uaas_stacks']],
  software: [['/software/downloads', 'software_downloads']],
  iam: [
    ['/iam/users', 'iam_users'],
    ['/iam/service_keys', 'iam_service_keys'],
    ['/iam/user_keys', 'iam_user_keys'],
  ],
  health: [['/health', 'health']],
  gfa_keys: [['/gfa/api_keys', 'gfa_api_keys']],
};

/** The exposition that the recorded answers of one collector give, those of the inventory round among them. */
export async function collectorExposition(name: string): Promise<string> {
  const api = portalApi(RECORDED_AT);
  const collector = collectorOf(api, [], [name]);
  await api.clock.advance(70 * 60_000);
  const inventory = [...collector.tasks()].filter(({ id }) => id === 'portal/inventory');
  for (const [path, fixture] of collectorAnswers[name] ?? []) {
    api.answer(path.startsWith('/telemetry/') ? 'POST' : 'GET', path, [200, recorded(`portal/${fixture}`)]);
  }
  const show = exposure(api);
  await show(inventory);
  const asked = new Set(['portal/inventory']);
  // What is polled may bring more to poll.
  for (let more = [...collector.tasks()]; more.some(({ id }) => !asked.has(id)); more = [...collector.tasks()]) {
    const further = more.filter(({ id }) => !asked.has(id));
    for (const { id } of further) asked.add(id);
    await show(further);
  }
  return show([]);
}

/** When the recorded answers were new: snapshots and notifications in them are from after the start. */
const RECORDED_AT = Date.parse('2026-03-02T09:00:00Z');

/** The exposition that recorded answers of `GET /data` give, polled one after the other. */
export async function gfaExposition(...fixtures: readonly string[]): Promise<string> {
  const api = mockApi();
  const settings = { token: Secret.of('key'), clientKey: 'test', clientKeyHeader: 'x-client', groups: GROUPS };
  const ledger = ledgerSettings({ bounds: [10, 60, 3600] });
  const client = new GfaClient(api.client, settings, { clock: api.clock, random: () => 0 });
  const polling = { ledger, intervalMs: 60_000, keeper: undefined };
  const collector = new GfaCollector({ ...polling, client, clock: api.clock, log: noLog });
  let exposition = '';
  for (const fixture of fixtures) {
    api.answer('GET', '/data', [200, recorded(`gfa/${fixture}`)]);
    exposition = await exposed(api, [...collector.tasks()]);
  }
  return exposition;
}

/** `build`: of every appliance, instead of the recorded ones. */
function portalApi(now?: number, build?: string): MockApi {
  const withBuild = (name: string) =>
    JSON.parse(JSON.stringify(recorded(name)), (key, value) => (key === 'build' ? (build ?? value) : value));
  const api = mockApi(new ManualClock(now));
  api.answer('POST', '/auth/token', token('access'));
  api.answer('GET', '/serials', [200, withBuild('portal/serials-edge')], [200, withBuild('portal/serials-file-iq')]);
  api.answer('GET', '/edges', [200, withBuild('portal/edges')]);
  return api;
}

/** A collector of these series, all at five minutes. */
function collectorOf(api: MockApi, names: readonly string[], collectors: readonly string[] = []): PortalCollector {
  const every5m = (name: string) => ({ name, intervalMs: 300_000 });
  return portalCollector(api, { series: names.map(every5m), collectors: collectors.map(every5m) });
}

/** What the store says once these tasks have been polled, and watched as the program watches them. */
function exposed(api: MockApi, tasks: readonly Task[]): Promise<string> {
  return exposure(api)(tasks);
}

/** Polls tasks into one store, each time it is called, and gives what that says then. */
function exposure({ clock }: MockApi): (tasks: readonly Task[]) => Promise<string> {
  const store = new LineStore(upstreamCatalog);
  const sink: PollSink = {
    accept: async ({ id }, { samples }) => void store.publish(id, samples),
    publishState: ({ id }, samples) => void store.publish(id, samples),
    withdraw: (id) => store.withdraw(id),
  };
  const limits = { allowedPerSecond: () => Number.POSITIVE_INFINITY, isWaiting: () => false, warnings: () => [] };
  const explain = explainFor(portalCauses);
  return async (tasks) => {
    const collector = { api: tasks[0]?.api ?? 'portal', tasks: () => tasks };
    const settings = {
      collector,
      workers: 1,
      sink,
      intervalMs: 300_000,
      staleAfter: 3,
      appliances: applianceStateFamilies,
      explain,
      ...limits,
    };
    const poller = new Poller(settings, { clock, random: () => 0, log: noLog });
    const polled = poller.runOnce(going);
    if (tasks.length > 0) {
      await clock.advance(600_000);
      await polled;
    }
    for (const { facts } of poller.registry.all()) if (facts.error !== undefined) throw facts.error;
    return textOf(store);
  };
}

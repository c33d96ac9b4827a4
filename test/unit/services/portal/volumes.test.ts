import { expect, test } from 'vitest';
import type { PollResult } from '../../../../src/contract/poll-result.ts';
import type { Task } from '../../../../src/contract/task.ts';
import { volumeGuids } from '../../../../src/services/portal/volumes/connections.ts';
import type { ServiceRequest } from '../../../../src/transport/json-client.ts';
import { valuesOf } from '../../../harness/sample-values.ts';
import { collecting, FakePortal, MINUTE, poll, type Reply } from './fake-portal.ts';

const START = Date.UTC(2026, 2, 2, 10);
const LYON = '00000000-0000-4000-8000-00000000000a';
const ZURICH = '00000000-0000-4000-8000-00000000000b';
const L = `volume_guid="v",volume="projects",serial="${LYON}",filer="lyon"`;
const Z = `volume_guid="v",volume="projects",serial="${ZURICH}",filer="zurich"`;

const edge = (serial: string, description: string, more: object = {}) => ({ id: serial, serial, description, ...more });
const LYON_EDGE = edge(LYON, 'lyon', { id: 'edge-1' });
const ZURICH_EDGE = edge(ZURICH, 'zurich');

/** The volume “projects” on two appliances, with the snapshots that the test says. */
class Volumes {
  edges = [LYON_EDGE, ZURICH_EDGE];
  connections: readonly object[] = [this.connection('edge-1'), this.connection(ZURICH)];
  snapshots: readonly object[] = [];
  failures: readonly object[] = [];
  propagation: readonly object[] = [];
  /** Rejects requests for longer periods, as too large. */
  longestMs = Number.POSITIVE_INFINITY;
  readonly portal = new FakePortal((request) => this.#reply(request));
  readonly #collector;

  constructor(collectors = ['volumes', 'volume_telemetry']) {
    this.#collector = this.portal.collector({ collectors: collecting(...collectors) });
  }

  connection(appliance_id: unknown, more: object = {}) {
    return { volume_id: 'V_0', volume_name: 'projects', appliance_id, appliance_name: 'as listed', ...more };
  }

  /** Polls the tasks of an operation; throws if there is none. */
  async poll(...operations: readonly string[]): Promise<PollResult> {
    let result: PollResult | undefined;
    for (const operation of operations) {
      const tasks = [...this.#collector.tasks()].filter((task) => task.operation === operation);
      if (tasks.length === 0) throw new Error(`there is no task for ${operation}`);
      for (const task of tasks) result = await poll(task);
    }
    if (result === undefined) throw new Error('nothing was polled');
    return result;
  }

  async values(...operations: readonly string[]) {
    return valuesOf((await this.poll(...operations)).samples);
  }

  /** The operation of each task, with what is true of it. */
  get operations(): readonly string[] {
    const flagsOf = (task: Task) => Object.entries(task).flatMap(([name, value]) => (value === true ? [name] : []));
    return Array.from(this.#collector.tasks(), (task) => [task.operation, ...flagsOf(task)].join(' '));
  }

  get periods(): readonly unknown[] {
    return this.portal.requests.flatMap(({ json }) => (json as { period?: unknown } | undefined)?.period ?? []);
  }

  #reply({ path, query, json }: ServiceRequest): Reply {
    const { period } = Object(json) as { period?: string };
    if (period !== undefined && Number(period.slice(2, -1)) * MINUTE > this.longestMs) return { status: 413 };
    if (path === '/serials')
      return { items: query?.type === 'edge' ? this.edges.map(({ serial }) => ({ id: serial })) : [] };
    if (path === '/edges') return { items: this.edges };
    if (path === '/volume_connections') return { items: this.connections };
    if (path.endsWith('/snapshot_timeline')) return { metadata_events: this.failures };
    return { items: path.endsWith('/snapshot_details') ? this.snapshots : this.propagation };
  }
}

const snapshot = (version: unknown, minutes: number, more: object = {}) => ({
  serial_number: LYON.toUpperCase(),
  time: START + minutes * MINUTE,
  volume_version: version,
  ...more,
});

const reached = (version: number, minutes: number, serial = ZURICH) => ({
  snapshot_serial_number: LYON,
  snapshot_version: version,
  sync_serial_number: serial,
  sync_time: START + minutes * MINUTE,
});

test('volumes are polled once the inventory has been read, because nothing has a name before', async () => {
  const volumes = new Volumes();
  expect(volumes.operations).toEqual(['serials discoversTasks retriesBeforeSlot priority']);
  await volumes.poll('serials', 'volume_connections');
  expect(volumes.operations.slice(1)).toEqual([
    'volume_connections retriesBeforeSlot priority',
    'volume_connections retriesBeforeSlot priority discoversTasks',
    'snapshot_details retriesBeforeSlot',
    'snapshot_timeline retriesBeforeSlot',
    'snapshot_propagation_by_appliance retriesBeforeSlot',
  ]);
});

test('1,600 connections are read with three pauses, so that a scrape does not wait', async () => {
  const volumes = new Volumes(['volumes']);
  volumes.connections = Array.from({ length: 1_600 }, (_, id) =>
    volumes.connection(LYON, { volume_id: `volume-${id}`, unprotected_data: 1 }),
  );
  await volumes.poll('serials');
  let turns = 0;
  const count = () => {
    turns += 1;
    next = setImmediate(count);
  };
  let next = setImmediate(count);
  const { samples } = await volumes.poll('volume_connections');
  clearImmediate(next);
  expect(Array.from(samples).filter(({ name }) => name === 'filer_volume_unprotected_bytes')).toHaveLength(1_600);
  expect(turns).toBe(3);
});

async function discovered() {
  const volumes = new Volumes(['volume_telemetry']);
  await volumes.poll('serials', 'volume_connections');
  await volumes.portal.clock.advance(30 * MINUTE);
  return volumes;
}

test('a snapshot counts once by its version, and the newest gives the gauges in any order', async () => {
  const volumes = await discovered();
  volumes.snapshots = [snapshot(8, 20, { dir_count: 3 }), snapshot(7, 10, { dir_count: 2 })];
  await volumes.poll('snapshot_details');
  volumes.snapshots = volumes.snapshots.toReversed();
  expect(await volumes.values('snapshot_details')).toMatchObject({
    [`filer_snapshots_total{${L}}`]: 2,
    [`filer_snapshot_latest_version{${L}}`]: 8,
    [`filer_snapshot_latest_directories{${L}}`]: 3,
  });
  volumes.snapshots = [];
  expect(await volumes.values('snapshot_details')).toMatchObject({ [`filer_snapshot_latest_version{${L}}`]: 8 });
});

test('a snapshot from before the start gives the gauges, and does not count; one without a version is reported', async () => {
  const volumes = await discovered();
  volumes.snapshots = [snapshot(7, -1), snapshot(null, 1)];
  const { samples, drops } = await volumes.poll('snapshot_details');
  expect(valuesOf(samples)).toMatchObject({
    [`filer_snapshots_total{${L}}`]: 0,
    [`filer_snapshot_latest_timestamp_seconds{${L}}`]: START / 1000 - 60,
  });
  expect(drops.get('record')).toBe(1);
});

test('a snapshot whose metadata phase failed counts once, and an appliance without one has 0', async () => {
  const volumes = await discovered();
  const event = (phase: string, serial_number: string, minutes: number) => {
    const end_time = START + minutes * MINUTE;
    return { phase, serial_number, start_time: end_time - 500, end_time, volume_version: 7 };
  };
  volumes.failures = [
    event('metadata_snapshot_failed', LYON, 5),
    event('metadata_snapshot_failed', LYON, 9),
    event('metadata_snapshot', ZURICH, 9),
  ];
  await volumes.poll('snapshot_timeline');
  expect(await volumes.values('snapshot_timeline')).toEqual({
    [`filer_snapshot_metadata_failures_total{${L}}`]: 2,
    [`filer_snapshot_latest_metadata_failure_timestamp_seconds{${L}}`]: START / 1000 + 540,
    [`filer_snapshot_metadata_failures_total{${Z}}`]: 0,
  });
});

test('a snapshot that an appliance neither made nor received is one that it is behind', async () => {
  const volumes = await discovered();
  volumes.snapshots = [snapshot(41, 20), snapshot(40, 10), snapshot(38, 5, { serial_number: ZURICH })];
  volumes.propagation = [reached(36, 9)];
  await volumes.poll('snapshot_details');
  const values = await volumes.values('snapshot_propagation_by_appliance');
  // Zurich received 36 and made 38. Lyon has received nothing, so it is unknown what it had before.
  expect(values[`filer_snapshot_versions_behind{${Z}}`]).toBe(3);
  expect(values[`filer_snapshot_versions_behind{${L}}`]).toBeUndefined();
  volumes.propagation = [reached(41, 24), reached(39, 25)];
  expect(await volumes.values('snapshot_propagation_by_appliance')).toMatchObject({
    [`filer_snapshot_versions_behind{${Z}}`]: 0,
    [`filer_snapshot_reached_version{${Z}}`]: 41,
  });
});

const REACHED = 'snapshot_propagation_by_appliance';
const versions = async (volumes: Volumes) =>
  Object.keys(await volumes.values(REACHED)).filter((series) => series.startsWith('filer_snapshot_reached_version'));

test.each<[string, Partial<Volumes>, string]>([
  ['two lists of connections lack it', { connections: [new Volumes().connection(LYON)] }, 'volume_connections'],
  ['two inventories lack it, although the connections are as before', { edges: [LYON_EDGE] }, 'serials'],
])('what is held for an appliance leaves with it when %s', async (_, change, list) => {
  const volumes = new Volumes(['volume_telemetry']);
  volumes.propagation = [reached(7, 1, LYON), reached(7, 1)];
  await volumes.poll('serials', 'volume_connections', REACHED);
  Object.assign(volumes, { propagation: [], ...change });
  await volumes.poll(list);
  expect(await versions(volumes)).toHaveLength(2);
  await volumes.poll(list);
  expect(await versions(volumes)).toEqual([`filer_snapshot_reached_version{${L}}`]);
});

test('a volume is polled until two lists lack it, and its snapshots do not count again when it returns', async () => {
  const volumes = new Volumes(['volume_telemetry']);
  volumes.snapshots = [snapshot(7, 1)];
  await volumes.poll('serials', 'volume_connections', 'snapshot_details');
  const { connections } = volumes;
  volumes.connections = [];
  await volumes.poll('volume_connections');
  expect(volumes.operations).toHaveLength(5);
  await volumes.poll('volume_connections');
  expect(volumes.operations).toHaveLength(2);
  volumes.connections = connections;
  await volumes.poll('volume_connections');
  expect(await volumes.values('snapshot_details')).toMatchObject({ [`filer_snapshots_total{${L}}`]: 1 });
});

test('a request for snapshots reaches back to the last success and two intervals more, but no more than 30 days', async () => {
  const volumes = new Volumes(['volume_telemetry']);
  await volumes.poll('serials', 'volume_connections', 'snapshot_details');
  await volumes.portal.clock.advance(60 * MINUTE);
  volumes.portal.clock.step(-24 * 60 * MINUTE);
  await volumes.poll('snapshot_details');
  await volumes.portal.clock.advance(40 * 24 * 60 * MINUTE);
  await volumes.poll('snapshot_details');
  expect(volumes.periods).toEqual(['PT1440M', 'PT70M', 'PT43200M']);
  expect(volumes.portal.requests.at(-1)?.json).toMatchObject({
    serial_numbers: [LYON, ZURICH],
    smart_sampling: false,
  });
});

test('a request for snapshots covers half the period after a response that was too large', async () => {
  const volumes = new Volumes(['volume_telemetry']);
  volumes.longestMs = 400 * MINUTE;
  const { drops } = await volumes.poll('serials', 'volume_connections', 'snapshot_details');
  expect(volumes.periods).toEqual(['PT1440M', 'PT720M', 'PT360M']);
  expect(drops.get('record')).toBe(1);
});

test('a request for snapshots is never sent for an id that could be another path', async () => {
  const volumes = new Volumes(['volume_telemetry']);
  volumes.connections = [volumes.connection(LYON, { volume_id: '../serials' })];
  const { drops } = await volumes.poll('serials', 'volume_connections');
  expect(drops.get('record')).toBe(1);
  expect(volumes.operations).toHaveLength(2);
});

test('the id of a volume is that of file acceleration, unless two volumes differ in its number only', () => {
  expect(volumeGuids(['AB-1_0'])('AB-1_0')).toBe('ab-1');
  expect(['ab-1_0', 'AB-1_1', 'cd-2_0'].map(volumeGuids(['ab-1_0', 'ab-1_1', 'cd-2_0']))).toEqual([
    'ab-1_0',
    'ab-1_1',
    'cd-2',
  ]);
});

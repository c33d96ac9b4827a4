import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/metrics/family.ts';
import { type LedgerDependencies, SnapshotLedger } from '../../../../src/services/portal/volumes/snapshot-ledger.ts';
import { snapshotOperations } from '../../../../src/services/portal/volumes/snapshot-operations.ts';
import { volumeGuids } from '../../../../src/services/portal/volumes/volume-guid.ts';
import { valuesOf } from '../../../support/exposition-lines.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const START = 1_772_445_000;
const DAY = 86_400;
const L = 'volume_guid="v",volume="projects",serial="s",filer="lyon"';

function parts(more: Partial<LedgerDependencies> = {}): LedgerDependencies {
  return {
    volume: () => ({ volume_guid: 'v', volume: 'projects' }),
    since: { includes: (at) => at >= START },
    bounds: [60, 600],
    nameOf: (serial) => (serial === 's' ? 'lyon' : undefined),
    clock: new ManualClock(),
    ...more,
  };
}

function snapshot(version: unknown, at: number, more: object = {}) {
  return { serial_number: 'S', appliance: 'told', time: at * 1000, volume_version: version, dir_count: 1, ...more };
}

function ledgerOf(name: string, more: Partial<LedgerDependencies> = {}): SnapshotLedger {
  const operation = snapshotOperations[name];
  if (operation === undefined) throw new Error(`no operation ${name}`);
  return new SnapshotLedger(operation, parts(more));
}

function finished(more: Partial<LedgerDependencies> = {}): SnapshotLedger {
  return ledgerOf('snapshot_details', more);
}

async function absorb(ledger: SnapshotLedger, { items }: { readonly items: readonly JsonObject[] }, now = START) {
  return valuesOf(await ledger.add(items, now, () => {}));
}

describe('a finished snapshot', async () => {
  test('counts once by its version, and the newest gives the gauges whatever the order', async () => {
    const ledger = finished();
    const items = [snapshot(8, START + 20, { protect_mean: '30' }), snapshot(7, START + 10, { protect_mean: '700' })];
    await absorb(ledger, { items });
    const values = await absorb(ledger, { items: items.toReversed() });
    expect(values).toMatchObject({
      [`filer_snapshots_total{${L}}`]: 2,
      [`filer_snapshot_latest_version{${L}}`]: 8,
      [`filer_snapshot_latest_time_to_protect_mean_seconds{${L}}`]: 30,
      [`filer_snapshot_time_to_protect_seconds_bucket{${L},le="60.0"}`]: 1,
      [`filer_snapshot_time_to_protect_seconds_sum{${L}}`]: 730,
    });
  });

  test('from before the start gives the gauges and counts for nothing', async () => {
    const values = await absorb(finished(), { items: [snapshot(7, START - 1, { protect_mean: '5' })] });
    expect(values[`filer_snapshots_total{${L}}`]).toBe(0);
    expect(values[`filer_snapshot_latest_version{${L}}`]).toBe(7);
    expect(values[`filer_snapshot_time_to_protect_seconds_count{${L}}`]).toBe(0);
  });

  test('of globally locked files has no data phase, and no zero for one', async () => {
    const times = { metadata_snapshot_start: START * 1000, metadata_snapshot_end: (START + 30) * 1000 };
    const values = await absorb(finished(), {
      items: [snapshot(7, START + 30, { ...times, data_snapshot_start: null, data_snapshot_end: null })],
    });
    const phases = Object.keys(values).filter((name) => name.includes('phase='));
    expect(values[`filer_snapshot_latest_phase_duration_seconds{${L},phase="metadata"}`]).toBe(30);
    expect(phases.filter((name) => name.includes('phase="data"'))).toEqual([]);
  });

  test('without a version is shown and not counted', async () => {
    const values = await absorb(finished(), { items: [snapshot(null, START + 1)] });
    expect(values[`filer_snapshots_total{${L}}`]).toBe(0);
  });

  test('stays the newest while answers bring nothing new', async () => {
    const ledger = finished();
    await absorb(ledger, { items: [snapshot(7, START + 1)] });
    expect((await absorb(ledger, { items: [] }))[`filer_snapshot_latest_version{${L}}`]).toBe(7);
  });

  test('is known for as long as it can come again', async () => {
    const clock = new ManualClock();
    const ledger = finished({ clock });
    const items = [snapshot(7, START + 1)];
    await absorb(ledger, { items });
    await clock.advance(29 * DAY * 1000);
    const later = START + 29 * DAY;
    expect(
      (await absorb(ledger, { items: [...items, snapshot(8, later)] }, later))[`filer_snapshots_total{${L}}`],
    ).toBe(2);
  });

  test('with a date in the future keeps none that comes until then from being counted', async () => {
    const ledger = finished();
    await absorb(ledger, { items: [snapshot(7, START + 400 * DAY)] }, START + 10);
    expect(
      (await absorb(ledger, { items: [snapshot(8, START + 20)] }, START + 30))[`filer_snapshots_total{${L}}`],
    ).toBe(2);
  });
});

describe('a clock', async () => {
  test('of the service that was ten years ahead, with its snapshots, hides none once it is set right', async () => {
    const ledger = finished();
    const ahead = 3_652 * DAY;
    await absorb(ledger, { items: [snapshot(7, START + ahead)] }, START + ahead + 10);
    const items = [snapshot(9, START + 40), snapshot(8, START + 20)];
    expect(await absorb(ledger, { items }, START + 60)).toMatchObject({
      [`filer_snapshots_total{${L}}`]: 3,
      [`filer_snapshot_latest_version{${L}}`]: 9,
    });
  });

  test.each([40, -40])('that is off by %i days for one answer makes no snapshot count twice', async (days) => {
    const ledger = finished();
    const items = [snapshot(7, START + 1), snapshot(8, START + 2)];
    await absorb(ledger, { items }, START + 10);
    await absorb(ledger, { items: [] }, START + 20 + days * DAY);
    expect((await absorb(ledger, { items }, START + 30))[`filer_snapshots_total{${L}}`]).toBe(2);
  });
});

test('a metadata snapshot that failed counts once, and an appliance without one has a zero', async () => {
  const ledger = ledgerOf('snapshot_timeline');
  const event = (phase: string, serial: string, end: number) => ({
    phase,
    serial_number: serial,
    start_time: end * 1000 - 500,
    end_time: end * 1000,
    volume_version: 7,
  });
  const items = [
    event('metadata_snapshot_failed', 's', START + 5),
    event('metadata_snapshot_failed', 's', START + 9),
    event('metadata_snapshot', 'other', START + 9),
  ];
  await absorb(ledger, { items });
  expect(await absorb(ledger, { items })).toEqual({
    [`filer_snapshot_metadata_failures_total{${L}}`]: 2,
    [`filer_snapshot_latest_metadata_failure_timestamp_seconds{${L}}`]: START + 9,
    'filer_snapshot_metadata_failures_total{volume_guid="v",volume="projects",serial="other",filer="other"}': 0,
  });
});

test('a propagation counts once for each appliance that it reached, and a negative one not at all', async () => {
  const ledger = ledgerOf('snapshot_propagation_by_appliance');
  const record = (version: number, ms: number) => ({
    sync_serial_number: 's',
    sync_time: (START + 60) * 1000,
    snapshot_serial_number: 'x',
    snapshot_version: version,
    propagation_duration: ms,
  });
  const items = [record(7, 42_000), record(8, -5), record(7, 42_000)];
  const values = await absorb(ledger, { items });
  expect(values[`filer_snapshot_propagation_seconds_count{${L}}`]).toBe(1);
  expect(values[`filer_snapshot_propagation_seconds_sum{${L}}`]).toBe(42);
});

describe('the portal’s id of a volume', async () => {
  test('is told as file acceleration tells it: without the number behind it, in lower case', async () => {
    expect(volumeGuids(['AB-1_0'])('AB-1_0')).toBe('ab-1');
  });

  test('keeps its number where another volume differs in that alone', async () => {
    const guidOf = volumeGuids(['ab-1_0', 'ab-1_1', 'cd-2_0']);
    expect(['ab-1_0', 'AB-1_1', 'cd-2_0'].map(guidOf)).toEqual(['ab-1_0', 'ab-1_1', 'cd-2']);
  });
});

import { describe, expect, test } from 'vitest';
import { CountingStart } from '../../../../src/runtime/counting-start.ts';
import { atOnce } from '../../../../src/runtime/slices.ts';
import { FailedSnapshots } from '../../../../src/sources/portal/volumes/failed-snapshots.ts';
import { FinishedSnapshots } from '../../../../src/sources/portal/volumes/finished-snapshots.ts';
import { PropagatedSnapshots } from '../../../../src/sources/portal/volumes/propagated-snapshots.ts';
import type { LedgerParts, SnapshotLedger } from '../../../../src/sources/portal/volumes/snapshot-ledgers.ts';
import { volumeGuids } from '../../../../src/sources/portal/volumes/volume-guid.ts';
import { valuesOf } from '../../../support/exposition-lines.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const START = 1_772_445_000;
const DAY = 86_400;
const L = 'volume_guid="v",volume="projects",serial="s",filer="lyon"';

function parts(more: Partial<LedgerParts> = {}): LedgerParts {
  return {
    volume: () => ({ volume_guid: 'v', volume: 'projects' }),
    since: { includes: (at) => at >= START },
    histograms: { bounds: [60, 600], boundText: String },
    nameOf: (serial) => (serial === 's' ? 'lyon' : undefined),
    ...more,
  };
}

function snapshot(version: unknown, at: number, more: object = {}) {
  return { serial_number: 'S', appliance: 'told', time: at * 1000, volume_version: version, dir_count: 1, ...more };
}

function absorb(ledger: SnapshotLedger, body: unknown, now = START) {
  return valuesOf(atOnce(ledger.absorb(body, now, () => {})));
}

describe('a finished snapshot', () => {
  test('counts once by its version, and the newest gives the gauges whatever the order', () => {
    const ledger = new FinishedSnapshots(parts());
    const items = [snapshot(8, START + 20, { protect_mean: '30' }), snapshot(7, START + 10, { protect_mean: '700' })];
    absorb(ledger, { items });
    const values = absorb(ledger, { items: items.toReversed() });
    expect(values).toMatchObject({
      [`filer_snapshots_total{${L}}`]: 2,
      [`filer_snapshot_latest_version{${L}}`]: 8,
      [`filer_snapshot_latest_time_to_protect_seconds{${L},statistic="mean"}`]: 30,
      [`filer_snapshot_time_to_protect_seconds_bucket{${L},le="60"}`]: 1,
      [`filer_snapshot_time_to_protect_seconds_sum{${L}}`]: 730,
    });
  });

  test('from before the start gives the gauges and counts for nothing', () => {
    const values = absorb(new FinishedSnapshots(parts()), { items: [snapshot(7, START - 1, { protect_mean: '5' })] });
    expect(values[`filer_snapshots_total{${L}}`]).toBe(0);
    expect(values[`filer_snapshot_latest_version{${L}}`]).toBe(7);
    expect(values[`filer_snapshot_time_to_protect_seconds_count{${L}}`]).toBe(0);
  });

  test('of globally locked files has no data phase, and no zero for one', () => {
    const times = { metadata_snapshot_start: START * 1000, metadata_snapshot_end: (START + 30) * 1000 };
    const values = absorb(new FinishedSnapshots(parts()), {
      items: [snapshot(7, START + 30, { ...times, data_snapshot_start: null, data_snapshot_end: null })],
    });
    const phases = Object.keys(values).filter((name) => name.includes('phase='));
    expect(values[`filer_snapshot_latest_phase_duration_seconds{${L},phase="metadata"}`]).toBe(30);
    expect(phases.filter((name) => name.includes('phase="data"'))).toEqual([]);
  });

  test('without a version is shown and not counted', () => {
    const values = absorb(new FinishedSnapshots(parts()), { items: [snapshot(null, START + 1)] });
    expect(values[`filer_snapshots_total{${L}}`]).toBe(0);
  });

  test('stays the newest while answers bring nothing new', () => {
    const ledger = new FinishedSnapshots(parts());
    absorb(ledger, { items: [snapshot(7, START + 1)] });
    expect(absorb(ledger, { items: [] })[`filer_snapshot_latest_version{${L}}`]).toBe(7);
  });

  test('older than what can come again is not counted a second time', () => {
    const ledger = new FinishedSnapshots(parts());
    const items = [snapshot(7, START + 1)];
    absorb(ledger, { items });
    const later = START + 31 * DAY;
    absorb(ledger, { items: [snapshot(8, later)] }, later);
    expect(absorb(ledger, { items }, later)[`filer_snapshots_total{${L}}`]).toBe(2);
  });

  test('with a date in the future keeps none that comes until then from being counted', () => {
    const ledger = new FinishedSnapshots(parts());
    absorb(ledger, { items: [snapshot(7, START + 400 * DAY)] }, START + 10);
    expect(absorb(ledger, { items: [snapshot(8, START + 20)] }, START + 30)[`filer_snapshots_total{${L}}`]).toBe(2);
  });
});

describe('a clock', () => {
  test('that is ahead for a while keeps nothing from being counted', () => {
    const clock = new ManualClock(START * 1000);
    const ledger = new FinishedSnapshots(parts({ since: new CountingStart(clock) }));
    absorb(ledger, { items: [snapshot(7, START + 1)] }, START + 10);
    clock.step(40 * DAY * 1000);
    const values = absorb(ledger, { items: [snapshot(8, START + 20)] }, clock.now() / 1000);
    expect(values[`filer_snapshots_total{${L}}`]).toBe(2);
  });

  test.each([40, -40])('that is off by %i days for one answer makes no snapshot count twice', (days) => {
    const ledger = new FinishedSnapshots(parts());
    const items = [snapshot(7, START + 1), snapshot(8, START + 2)];
    absorb(ledger, { items }, START + 10);
    absorb(ledger, { items: [] }, START + 20 + days * DAY);
    expect(absorb(ledger, { items }, START + 30)[`filer_snapshots_total{${L}}`]).toBe(2);
  });

  test.each([
    ['a year ahead', 365 * DAY],
    ['in 1970', -START],
  ])('that was %s at the start and is set right moves nothing into or out of what is counted', (_, off) => {
    const clock = new ManualClock((START + off) * 1000);
    const ledger = new FinishedSnapshots(parts({ since: new CountingStart(clock) }));
    absorb(ledger, { items: [snapshot(6, START - 10)] }, clock.now() / 1000);
    clock.step(-off * 1000);
    const items = [snapshot(7, START - 5), snapshot(8, START + 5)];
    expect(absorb(ledger, { items }, clock.now() / 1000)[`filer_snapshots_total{${L}}`]).toBe(1);
  });
});

test('a metadata snapshot that failed counts once, and an appliance without one has a zero', () => {
  const ledger = new FailedSnapshots(parts());
  const event = (phase: string, serial: string, end: number) => ({
    ...{ phase, serial_number: serial, start_time: end * 1000 - 500, end_time: end * 1000, volume_version: 7 },
  });
  const metadata_events = [
    event('metadata_snapshot_failed', 's', START + 5),
    event('metadata_snapshot_failed', 's', START + 9),
    event('metadata_snapshot', 'other', START + 9),
  ];
  absorb(ledger, { metadata_events });
  expect(absorb(ledger, { metadata_events })).toEqual({
    [`filer_snapshot_metadata_failures_total{${L}}`]: 2,
    [`filer_snapshot_latest_metadata_failure_timestamp_seconds{${L}}`]: START + 9,
    'filer_snapshot_metadata_failures_total{volume_guid="v",volume="projects",serial="other",filer="other"}': 0,
  });
});

test('a propagation counts once for each appliance that it reached, and a negative one not at all', () => {
  const ledger = new PropagatedSnapshots(parts());
  const record = (version: number, ms: number) => ({
    ...{
      sync_serial_number: 's',
      sync_time: (START + 60) * 1000,
      snapshot_serial_number: 'x',
      snapshot_version: version,
    },
    propagation_duration: ms,
  });
  const items = [record(7, 42_000), record(8, -5), record(7, 42_000)];
  const values = absorb(ledger, { items });
  expect(values[`filer_snapshot_propagation_seconds_count{${L}}`]).toBe(1);
  expect(values[`filer_snapshot_propagation_seconds_sum{${L}}`]).toBe(42);
});

describe('the portal’s id of a volume', () => {
  test('is told as file acceleration tells it: without the number behind it, in lower case', () => {
    expect(volumeGuids(['AB-1_0'])('AB-1_0')).toBe('ab-1');
  });

  test('keeps its number where another volume differs in that alone', () => {
    const guidOf = volumeGuids(['ab-1_0', 'ab-1_1', 'cd-2_0']);
    expect(['ab-1_0', 'AB-1_1', 'cd-2_0'].map(guidOf)).toEqual(['ab-1_0', 'ab-1_1', 'cd-2']);
  });
});

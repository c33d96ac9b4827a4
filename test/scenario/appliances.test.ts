import { expect, test } from 'vitest';
import type { Fault } from '../../src/demo/services.ts';
import { simulate } from './simulate.ts';

const UP = 'filer_appliance_up';
const CPU = 'filer_appliance_cpu_utilization_ratio';
const telemetryOf = (serial: string) => new RegExp(`^/telemetry/appliances/${serial}/`);
const failing = (serial: string, fault: Fault = { status: 500 }): Fault => ({ path: telemetryOf(serial), ...fault });

test('an appliance whose series all fail is down within four intervals, with its values gone and one line in the log', async () => {
  const run = await simulate({ checkEvery: '30s' });
  await run.advance('12m');
  const [serial = ''] = run.serials;
  const before = run.log.length;
  const usual = run.requests(telemetryOf(serial), '8m');
  run.fail(failing(serial));
  let intervals = 0;
  for (; (await run.advance('30s')).value(UP, { serial }) === 1; intervals += 0.25) expect(intervals).toBeLessThan(4);
  expect(intervals).toBeGreaterThan(2);
  const scrape = await run.advance('8m');
  expect(scrape.standing).toBe('portal up, 2 reporting, 1 unavailable, 6 series');
  expect(run.requests(telemetryOf(serial), '8m')).toBeLessThanOrEqual(1.2 * usual);
  const lines = run.log.slice(before).filter((line) => line.serial === serial);
  expect(lines.map(({ filer }) => filer)).toEqual(['edge-lyon']);
  const { appliances } = JSON.parse((await run.get('/api/v1/status')).text);
  expect(appliances.map(({ state }: { state: string }) => state).toSorted()).toEqual(['down', 'up', 'up']);
});

test('an appliance that is off has no records, is down, and is up again after its second record', async () => {
  const run = await simulate();
  await run.advance('8m');
  run.disturb((_, path) => path.includes(run.serials[0] ?? ''));
  run.services.fleet.change('edge-lyon', { offSince: run.clock.now() });
  // Its last records are still in the period that is requested.
  expect((await run.advance('26m')).standing).toBe('portal up, 1 no records, 2 reporting, 6 series');
  run.services.fleet.change('edge-lyon', { offSince: Number.POSITIVE_INFINITY });
  expect((await run.advance('6m')).standing).toBe('portal up, 3 reporting, 9 series');
});

test('eight of sixteen appliances hang: the others miss no interval, and one that hung is back within two', async () => {
  const run = await simulate({ appliances: 16, env: { PORTAL_CONCURRENCY: '4' } });
  await run.advance('4m');
  const hanging = run.serials.slice(0, 8);
  const [end] = hanging.map((serial) => run.fail(failing(serial, { how: 'hang' })));
  await run.advance('24m');
  // What hangs is requested half as often as what is well.
  for (const serial of hanging) expect(run.requests(telemetryOf(serial), '24m')).toBeLessThan((12 * 3) / 2 + 2);
  const [back = '', , , , , , , , healthy = ''] = run.serials;
  run.fail({ ...failing(healthy), path: new RegExp(`${healthy}/cpu`), times: 3 });
  end?.();
  const scrape = await run.advance('6m');
  expect([back, healthy].map((serial) => scrape.all(CPU, { serial }).length)).toEqual([1, 1]);
  expect(scrape.sum(UP)).toBe(9);
});

test('an ingestion that stalls for all appliances is over everywhere after its end with the second record', async () => {
  const run = await simulate({ appliances: 8, env: { PORTAL_DISCOVERY_INTERVAL: '2h' } });
  await run.advance('4m');
  const end = run.edit(/^\/telemetry/, (body) => ({ ...(body as object), items: [] }));
  expect((await run.advance('12m')).standing).toBe('portal up, 8 no records, 0 series');
  end();
  // An appliance reports every five minutes.
  expect((await run.advance('8m')).standing).toBe('portal up, 8 reporting, 24 series');
});

test('a replaced appliance: the old one leaves, and the new one has the plain name from its first value on', async () => {
  const run = await simulate({ gfa: true, checkEvery: '30s' });
  await run.advance('4m');
  const [old = ''] = run.serials;
  run.disturb((_, path) => path.includes(old))();
  run.services.fleet.remove('edge-lyon', run.clock.now());
  const { serial } = run.services.fleet.add(run.clock.now());
  run.services.fleet.change('edge-leeds', { name: 'edge-lyon' });
  const names = new Set<string | undefined>();
  for (let step = 0; step < 32; step += 1) {
    const scrape = await run.advance('30s');
    for (const { labels } of scrape.all(/^filer_appliance/, { serial })) names.add(labels.filer);
  }
  expect([...names]).toEqual(['edge-lyon']);
  const scrape = await run.scrape();
  expect([scrape.all(UP).length, scrape.all(/^filer_/, { serial: old })]).toEqual([3, []]);
});

test('half of the fleet is decommissioned: nothing of it is shown or requested any more', async () => {
  const run = await simulate({ appliances: 6 });
  await run.advance('4m');
  const gone = run.serials.slice(0, 3);
  run.disturb((_, path) => gone.some((serial) => path.includes(serial)));
  for (const { name } of run.services.fleet.appliances.slice(0, 3)) run.services.fleet.remove(name, run.clock.now());
  const scrape = await run.advance('16m');
  expect(scrape.standing).toBe('portal up, 3 reporting, 9 series');
  const page = (await run.get('/status')).text;
  expect(gone.filter((serial) => scrape.text.includes(serial) || page.includes(serial))).toEqual([]);
  expect(run.requests(new RegExp(gone.join('|')), '4m')).toBe(0);
});

test('five appliances that join at once are up soon after the next list, and a renamed one keeps its counts', async () => {
  const run = await simulate({ gfa: true });
  await run.advance('8m');
  for (let joined = 0; joined < 5; joined += 1) run.services.fleet.add(run.clock.now());
  run.services.fleet.change('edge-osaka', { name: 'edge "1" \\ \n' });
  const scrape = await run.advance('16m');
  expect(scrape.standing).toBe('gfa up, 8 filers; portal up, 8 reporting, 24 series');
  const [, renamed = ''] = run.serials;
  const names = scrape.all(/^filer_/, { serial: renamed }).map(({ labels }) => labels.filer);
  expect(new Set(names)).toEqual(new Set(['edge "1" \\ \n']));
});

test('filers of one name, in both services, have one name with a short id, and it is the same after a restart', async () => {
  const run = await simulate({ gfa: true, state: true });
  run.services.fleet.change('edge-osaka', { name: 'edge-lyon' });
  const namesIn = async () => {
    const scrape = await run.advance('8m');
    return run.serials.map((serial) => {
      const own = [...scrape.all(/^filer_/, { serial }), ...scrape.all(/^filer_/, { filer_guid: serial })];
      return [...new Set(own.map(({ labels }) => labels.filer))].join(' | ');
    });
  };
  run.allow('counters', 'two filers exchange their names, so that their series are others');
  const names = await namesIn();
  expect(new Set(names).size).toBe(3);
  expect(names).toEqual([
    expect.stringMatching(/^edge-lyon \S+$/),
    expect.stringMatching(/^edge-lyon \S+$/),
    'edge-denver',
  ]);
  await run.restart('stop');
  expect(await namesIn()).toEqual(names);
});

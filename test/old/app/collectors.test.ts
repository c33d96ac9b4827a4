import { describe, expect, test } from 'vitest';
import type { Variations } from '../../src/demo/variations.ts';
import { confidentialTexts } from '../../src/demo/world/confidential.ts';
import { tablesOf } from '../../src/services/portal/collector-definition.ts';
import { collectorDefinitions } from '../../src/services/portal/collectors.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { World } from '../harness/world.ts';

const SEED = 7;
const OFTEN = { PORTAL_INTERVAL: '10s', PORTAL_DISCOVERY_INTERVAL: '10s', PORTAL_COLLECTORS: 'all=20s' };

/** Families that only show up when something happens meanwhile. */
const HAPPENING = new Set(['filer_snapshot_latest_metadata_failure_timestamp_seconds', 'filer_notifications_total']);

const promised = collectorDefinitions.flatMap((definition) =>
  tablesOf(definition).flatMap(({ families }) =>
    families.map((family) => ({ collector: definition.name, family: family.name })),
  ),
);

/** An exporter with every collector, each of which requests so often that what is promised of the usual ones is not. */
async function everything(variations: Partial<Variations> = {}, appliances = 3): Promise<World> {
  const environment = { ...OFTEN, LOG_LEVEL: 'debug' };
  const world = await World.begin({ appliances, seed: SEED, series: ['cpu_utilization'], variations, environment });
  world.judge.excused.push('costs: ', 'talks: ');
  return world;
}

/** What the services have been asked. */
const requestsOf = ({ services }: World) => services.requests;

describe('every collector at once', () => {
  test('exports all of its families from a portal that speaks every operation, and nothing confidential', async () => {
    const world = await everything({}, 12);
    const missing = (text: string) =>
      promised.filter(({ family }) => !HAPPENING.has(family) && !text.includes(`# TYPE ${family} `));
    const whole = await world
      .until('every family', async () => {
        const { scrape } = await world.sees();
        return missing(scrape.text).length === 0 && scrape.text;
      })
      .catch(() => {
        expect(missing(world.last)).toEqual([]);
        return world.last;
      });
    const status = (await world.page('/status')).text;
    for (const text of confidentialTexts(SEED)) {
      expect(whole).not.toContain(text);
      expect(status).not.toContain(text);
      expect(JSON.stringify(world.log)).not.toContain(text);
    }
    const failed = requestsOf(world).filter(({ status: code }) => (code ?? 599) >= 400);
    expect(failed.map(({ operation, status: code }) => `${operation} ${code}`)).toEqual([]);
  });

  test.each<readonly [string, Partial<Variations>]>([
    [
      'leaves out what it may, sends numbers as text and words that nobody has documented, and names appliances by serial',
      { omitOptional: true, integers: 'string', unknownStates: true, connectionIds: 'serial' },
    ],
    ['sends null wherever it may', { nulls: 1 }],
  ])('is polled well by a portal that %s', async (_, variations) => {
    const world = await everything(variations);
    // A record without any value is a sign of life, though the judge sees nothing in it.
    world.judge.excused.push('up: ');
    await world.until('each account-wide operation to be asked twice', () => {
      const asked = requestsOf(world).filter(({ operation }) => operation === 'volume_connections').length;
      return asked >= 4;
    });
    await world.sees();
    const broken = world.log.filter(
      ({ msg }) => msg === 'poll failed' || msg.startsWith('the operation cannot be polled'),
    );
    expect(broken.map(({ task, reason }) => `${task} ${reason}`)).toEqual([]);
  });
});

test('an operation that the role may not use rests with its reason on the metrics, on the status page and once in the log, and comes back', async () => {
  const world = await everything({ forbidden: ['license', 'account/license', 'jobs'] });
  const suspended = { api: 'portal', reason: 'forbidden' };
  const moment = await world.until('the jobs to rest', async () => {
    const { scrape } = await world.sees();
    return (
      (scrape.value('filer_exporter_tasks_suspended', suspended) ?? 0) >= 1 &&
      scrape.all('filer_jobs').length === 0 &&
      scrape
    );
  });
  expect(moment.value('filer_exporter_tasks_suspended', suspended)).toBeGreaterThanOrEqual(1);
  await world.until('the status to say so', async () => {
    const { apis } = JSON.parse((await world.page('/api/v1/status')).text) as StatusReport;
    return apis.some(({ suspended: rests }) =>
      rests.some(({ operation, reason }) => operation === 'jobs' && reason === 'forbidden'),
    );
  });
  const told = () =>
    world.log.filter(
      ({ msg, operation }) => String(msg).startsWith('the operation is rejected') && operation === 'jobs',
    );
  expect(told()).toHaveLength(1);
  world.act();
  world.services.vary({ forbidden: [] });
  await world.until('the jobs', async () => (await world.sees()).scrape.all('filer_jobs').length > 0);
  expect(told()).toHaveLength(1);
});

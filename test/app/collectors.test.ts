import { describe, expect, test } from 'vitest';
import type { Variations } from '../../src/demo/variations.ts';
import { confidentialTexts } from '../../src/demo/world/confidential.ts';
import { tablesOf } from '../../src/services/portal/collector-definition.ts';
import { collectorDefinitions } from '../../src/services/portal/collectors.ts';
import type { StatusReport } from '../../src/status/model.ts';
import { exporter, portalEnvironment, services, until } from '../support/live.ts';

const SEED = 7;
const EVERYTHING = { PORTAL_SERIES: 'cpu_utilization', PORTAL_COLLECTORS: 'all=20s', LOG_LEVEL: 'debug' };

/** Families that only show up when something happens meanwhile. */
const HAPPENING = new Set(['filer_snapshot_latest_metadata_failure_timestamp_seconds', 'filer_notifications_total']);

const promised = collectorDefinitions.flatMap((definition) =>
  tablesOf(definition).flatMap(({ families }) =>
    families.map((family) => ({ collector: definition.name, family: family.name })),
  ),
);

async function everything(variations: Partial<Variations> = {}, appliances = 3) {
  const mocks = await services({ appliances, seed: SEED });
  mocks.vary(variations);
  return { mocks, live: await exporter({ ...portalEnvironment(mocks), ...EVERYTHING }) };
}

describe('every collector at once', () => {
  test('exports all of its families from a portal that speaks every operation, and nothing confidential', async () => {
    const { mocks, live } = await everything({}, 12);
    const missing = (text: string) =>
      promised.filter(({ family }) => !HAPPENING.has(family) && !text.includes(`# TYPE ${family} `));
    const whole = await until('every family', async () => {
      const scrape = await live.scrape();
      return missing(scrape.text).length === 0 && scrape;
    }).catch(async () => {
      expect(missing((await live.scrape()).text)).toEqual([]);
      return live.scrape();
    });
    const status = (await live.get('/status')).text;
    for (const text of confidentialTexts(SEED)) {
      expect(whole.text).not.toContain(text);
      expect(status).not.toContain(text);
      expect(JSON.stringify(live.log)).not.toContain(text);
    }
    const failed = mocks.requests.filter(({ status: code }) => (code ?? 599) >= 400);
    expect(failed.map(({ operation, status: code }) => `${operation} ${code}`)).toEqual([]);
  });

  test.each<readonly [string, Partial<Variations>]>([
    [
      'leaves out what it may, sends numbers as text and words that nobody has documented, and names appliances by serial',
      { omitOptional: true, integers: 'string', unknownStates: true, connectionIds: 'serial' },
    ],
    ['sends null wherever it may', { nulls: 1 }],
  ])('is polled well by a portal that %s', async (_, variations) => {
    const { mocks, live } = await everything(variations);
    await until('each account-wide operation to be asked twice', () => {
      const asked = mocks.requests.filter(({ operation }) => operation === 'volume_connections').length;
      return asked >= 4;
    });
    await live.scrape();
    const broken = live.log.filter(
      ({ msg }) => msg === 'poll failed' || msg.startsWith('the operation cannot be polled'),
    );
    expect(broken.map(({ task, reason }) => `${task} ${reason}`)).toEqual([]);
  });
});

test('an operation that the role may not use rests with its reason on the metrics, on the status page and once in the log, and comes back', async () => {
  const { mocks, live } = await everything({ forbidden: ['license', 'account/license', 'jobs'] });
  const suspended = { api: 'portal', reason: 'forbidden' };
  const moment = await until('the jobs to rest', async () => {
    const scrape = await live.scrape();
    return (
      (scrape.value('filer_exporter_tasks_suspended', suspended) ?? 0) >= 1 &&
      scrape.all('filer_jobs').length === 0 &&
      scrape
    );
  });
  expect(moment.value('filer_exporter_tasks_suspended', suspended)).toBeGreaterThanOrEqual(1);
  await until('the status to say so', async () => {
    const { apis } = JSON.parse((await live.get('/api/v1/status')).text) as StatusReport;
    return apis.some(({ suspended: rests }) =>
      rests.some(({ operation, reason }) => operation === 'jobs' && reason === 'forbidden'),
    );
  });
  const told = () =>
    live.log.filter(
      ({ msg, operation }) => String(msg).startsWith('the operation is rejected') && operation === 'jobs',
    );
  expect(told()).toHaveLength(1);
  mocks.vary({ forbidden: [] });
  await until('the jobs', async () => (await live.scrape()).all('filer_jobs').length > 0);
  expect(told()).toHaveLength(1);
});

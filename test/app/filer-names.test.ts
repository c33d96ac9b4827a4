import { expect, test } from 'vitest';
import { guidApart } from '../../src/demo/gfa/records.ts';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { exporter, gfaEnvironment, type Live, portalEnvironment, services, until } from '../support/live.ts';
import type { Scrape } from '../support/scrape.ts';

/** What each side calls its filers. */
const names = (scrape: Scrape, label: 'serial' | 'filer_guid') => [
  ...new Set(
    scrape.samples.filter(({ labels }) => (labels[label] ?? '') !== '').map(({ labels }) => labels.filer ?? ''),
  ),
];

/** Both services, of the portal what is polled often. */
const both = (mocks: MockServices) => ({
  ...gfaEnvironment(mocks),
  ...portalEnvironment(mocks),
  PORTAL_COLLECTORS: 'telemetry',
});

test('FILER_ALIASES joins what has another guid, and gives names', async () => {
  const mocks = await services({ variations: { filerGuids: 'own', filerTitles: 'own' } });
  const [one, other] = mocks.fleet.appliances.map(({ serial }) => serial);
  if (one === undefined || other === undefined) throw new Error('the mock services have too few appliances');
  const live = await exporter({
    ...both(mocks),
    FILER_ALIASES: [`${guidApart(one)}=${one}`, `${guidApart(other)}=${other}`, `${other}=osaka main`].join(','),
  });
  const scrape = await whole(live);
  const named = (label: 'serial' | 'filer_guid', id: string) => [
    ...new Set(scrape.all(/./, { [label]: id }).map(({ labels }) => labels.filer)),
  ];
  expect(named('filer_guid', guidApart(one))).toEqual(['edge-lyon']);
  expect(named('serial', one)).toEqual(['edge-lyon']);
  expect(named('filer_guid', guidApart(other))).toEqual(['osaka main']);
  expect(named('serial', other)).toEqual(['osaka main']);
  expect(names(scrape, 'filer_guid')).toContain('edge-denver.accelerated');
});

test('shard 0 names filers whose appliances are polled by other shards', async () => {
  const mocks = await services({ appliances: 12, variations: { filerTitles: 'own' } });
  const sharded = { SHARD: '0', TOTAL_SHARDS: '2' };
  const live = await exporter({ ...both(mocks), ...sharded });
  const scrape = await whole(live);
  expect(names(scrape, 'serial').length).toBeLessThan(12);
  expect(names(scrape, 'filer_guid').toSorted()).toEqual(mocks.fleet.appliances.map(({ title }) => title).toSorted());
});

/** Quotes, backslashes, line feeds, a sample, half an emoji, control characters, markup, a name of the language's own. */
const ODD = [
  ...['a "b" \\ c\nd\\n\\', 'x"} 1\nfiler_api_up{api="evil"} 1\n# EOF', '📁 büro \ud83d', 'a\tb\rc\u0000d\u001b[31m'],
  ...['<script>alert(1)</script>', '__proto__'],
];

test('a title of any text is a label like any other, and nothing but text on the page', async () => {
  const mocks = await services({ appliances: ODD.length, volumes: ODD.length });
  for (const [index, title] of ODD.entries()) {
    mocks.renameAppliance(mocks.fleet.appliances[index]?.serial ?? '', title);
    mocks.renameVolume(mocks.fleet.volumes[index]?.guid ?? '', title);
  }
  const live = await exporter(both(mocks));
  const scrape = await whole(live);
  const told = new Set(ODD.map((title) => title.toWellFormed().replace('\0', '\ufffd')));
  expect(new Set(names(scrape, 'serial'))).toEqual(told);
  expect(new Set(scrape.all('filer_volume_info').map(({ labels }) => labels.volume))).toEqual(told);
  expect(scrape.all('filer_api_up').map(({ labels }) => labels.api)).toEqual(['gfa', 'portal']);
  expect((await live.get('/status')).text).not.toContain('<script>alert');
});

/** A scrape with values of both services. */
function whole(live: Live): Promise<Scrape> {
  return until('values of both services', async () => {
    const scrape = await live.scrape();
    const isThere = (name: string) => scrape.all(name).length > 0;
    return (
      isThere('filer_last_checkin_timestamp_seconds') && isThere('filer_appliance_cpu_utilization_ratio') && scrape
    );
  });
}

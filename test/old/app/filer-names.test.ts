import { expect, test } from 'vitest';
import { guidApart } from '../../src/demo/gfa/records.ts';
import { MINUTE, type Setup, World } from '../harness/world.ts';
import type { Scrape } from '../support/scrape.ts';

/** What each side calls its filers. */
const names = (scrape: Scrape, label: 'serial' | 'filer_guid') => [
  ...new Set(
    scrape.samples.filter(({ labels }) => (labels[label] ?? '') !== '').map(({ labels }) => labels.filer ?? ''),
  ),
];

/** Both services, of the portal what is polled often. */
function begin({ environment = {}, ...setup }: Setup): Promise<World> {
  return World.begin({ gfa: true, ...setup, environment: { PORTAL_COLLECTORS: 'telemetry', ...environment } });
}

test('FILER_ALIASES joins what has another guid, and gives names', async () => {
  const { services } = await World.begin({ appliances: 4, later: true });
  const [one = '', other = ''] = services.fleet.appliances.map(({ serial }) => serial);
  const aliases = [`${guidApart(one)}=${one}`, `${guidApart(other)}=${other}`, `${other}=osaka main`].join(',');
  const world = await begin({
    appliances: 4,
    variations: { filerGuids: 'own', filerTitles: 'own' },
    environment: { FILER_ALIASES: aliases },
  });
  const { scrape } = await world.passes(MINUTE);
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
  const sharded = { SHARD: '0', TOTAL_SHARDS: '2' };
  const world = await begin({ appliances: 12, variations: { filerTitles: 'own' }, environment: sharded });
  world.judge.excused.push('round: ');
  const { scrape } = await world.passes(MINUTE);
  expect(names(scrape, 'serial').length).toBeLessThan(12);
  expect(names(scrape, 'filer_guid').toSorted()).toEqual(
    world.services.fleet.appliances.map(({ title }) => title).toSorted(),
  );
});

/** Quotes, backslashes, line feeds, a sample, half an emoji, control characters, markup, a name of the language's own. */
const ODD = [
  ...['a "b" \\ c\nd\\n\\', 'x"} 1\nfiler_api_up{api="evil"} 1\n# EOF', '📁 büro \ud83d', 'a\tb\rc\u0000d\u001b[31m'],
  ...['<script>alert(1)</script>', '__proto__'],
];

test('a title of any text is a label like any other, and nothing but text on the page', async () => {
  const world = await begin({ appliances: ODD.length, volumes: ODD.length, later: true });
  const { fleet } = world.services;
  for (const [index, title] of ODD.entries()) {
    world.services.renameAppliance(fleet.appliances[index]?.serial ?? '', title);
    world.services.renameVolume(fleet.volumes[index]?.guid ?? '', title);
  }
  await world.starts();
  const { scrape } = await world.passes(MINUTE);
  const told = new Set(ODD.map((title) => title.toWellFormed().replace('\0', '\ufffd')));
  expect(new Set(names(scrape, 'serial'))).toEqual(told);
  expect(new Set(scrape.all('filer_volume_info').map(({ labels }) => labels.volume))).toEqual(told);
  expect(scrape.all('filer_api_up').map(({ labels }) => labels.api)).toEqual(['gfa', 'portal']);
  expect((await world.page('/status')).text).not.toContain('<script>alert');
});

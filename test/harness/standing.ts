import type { Scrape } from './scrape.ts';

/** How all stands by one scrape, as `gfa up, 4 filers; portal up, 3 reporting, 9 series`. */
export function standing(scrape: Scrape): string {
  return scrape
    .all('filer_api_up')
    .map(({ labels: { api = '' }, value }) => {
      const reasons = scrape.all('filer_api_down_info', { api }).map(({ labels }) => labels.reason);
      const up = value === 1 ? 'up' : `down (${reasons.join()})`;
      return `${api} ${up}, ${api === 'gfa' ? filers(scrape) : appliances(scrape)}`;
    })
    .join('; ');
}

function filers(scrape: Scrape): string {
  return `${scrape.all('filer_last_checkin_timestamp_seconds').length} filers`;
}

function appliances(scrape: Scrape): string {
  const counts = new Map<string, number>();
  for (const { labels, value } of scrape.all('filer_appliance_state')) {
    const state = (labels.state ?? '').replace('_', ' ');
    if (value === 1) counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  const states = [...counts].toSorted().map(([state, count]) => `${count} ${state}`);
  return [...states, `${scrape.all('filer_appliance_series_timestamp_seconds').length} series`].join(', ');
}

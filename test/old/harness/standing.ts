import type { Scrape } from '../support/scrape.ts';
import { API_UP, DOWN_REASON, SERIES_TIME, STATE } from './names.ts';

/** How all stands by one scrape, in a few words, as `gfa up, 4 filers; portal up, 3 reporting, 9 series`. */
export function standing(scrape: Scrape): string {
  return scrape
    .all(API_UP)
    .map(({ labels: { api = '' }, value }) => {
      const why = scrape.all(DOWN_REASON, { api }).map(({ labels }) => labels.reason);
      const up = value === 1 ? 'up' : `down (${why.join()})`;
      return `${api} ${up}, ${api === 'gfa' ? filers(scrape) : appliances(scrape)}`;
    })
    .join('; ');
}

function filers(scrape: Scrape): string {
  return `${scrape.all('filer_last_checkin_timestamp_seconds').length} filers`;
}

function appliances(scrape: Scrape): string {
  const states = scrape.all(STATE).map(({ labels }) => labels.state ?? '');
  const counts = [...new Set(states)].sort().map((state) => `${count(states, state)} ${state.replace('_', ' ')}`);
  return [...counts, `${scrape.all(SERIES_TIME).length} series`].join(', ');
}

function count(states: readonly string[], state: string): number {
  return states.filter((one) => one === state).length;
}

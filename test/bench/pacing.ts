import { simulateFleet } from '../simulation/fleet.ts';
import { comparison } from './comparison.ts';
import type { Report } from './main.ts';

/** What the pace makes of limits, and of a fleet, in simulated time. */
export async function pacing(report: Report): Promise<void> {
  for (const cell of comparison()) {
    const place = `${cell.limit}${cell.retryAfter ? '' : ', no Retry-After'}`;
    report(`pacing/simulated/goodput/${place}`, cell.goodput, 'share');
    report(`pacing/simulated/refused/${place}`, cell.refused, 'share');
  }
  const account = {
    series: 15,
    intervalMs: 300_000,
    limit: { requests: 500, windowMs: 30_000 },
    dailyLimit: 1_000_000,
  };
  for (const appliances of [100, 500, 2_000]) {
    const fleet = simulateFleet({ ...account, appliances, hours: 48 });
    report(`pacing/fleet/${appliances}/refused in 48 h`, fleet.refused, 'requests');
    report(`pacing/fleet/${appliances}/quota used`, fleet.quotaUsed, 'share');
    report(`pacing/fleet/${appliances}/worst age`, fleet.worstAgeSeconds, 's');
    report(`pacing/fleet/${appliances}/worst age computed`, fleet.computedWorstAgeSeconds, 's');
  }
}

import { comparison } from './comparison.ts';
import type { Report } from './main.ts';

/** What the pace makes of limits, in simulated time. */
export async function pacing(report: Report): Promise<void> {
  for (const cell of comparison()) {
    const place = `${cell.limit}${cell.retryAfter ? '' : ', no Retry-After'}`;
    report(`pacing/simulated/goodput/${place}`, cell.goodput, 'share');
    report(`pacing/simulated/refused/${place}`, cell.refused, 'share');
  }
}

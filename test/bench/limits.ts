import type { Report } from './main.ts';
import { simulatedLimits } from './simulated-limits.ts';

/** How much of each simulated limit is used, and how many requests it rejects. */
export function limits(report: Report): void {
  for (const { name, hasRetryAfter, used, rejected } of simulatedLimits()) {
    const of = `${name}, ${hasRetryAfter ? 'with' : 'without'} Retry-After`;
    report(`used of ${of}`, used * 100, '%');
    report(`rejected by ${of}`, rejected * 100, '%');
  }
}

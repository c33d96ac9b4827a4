import type { Poller } from '../polling/poller.ts';
import type { Connection, Target } from '../sources/upstream.ts';
import type { Budget } from '../transport/rate/budget.ts';
import type { Pacer } from '../transport/rate/pacer.ts';

/** A service that is polled, as far as a report reads it. */
export interface ReportedService
  extends Pick<Connection, 'intervalMs' | 'tokenSecondsLeft' | 'notes' | 'variants' | 'describe'> {
  readonly api: string;
  readonly title: string;
  readonly target: Target;
  readonly pacer: Pacer;
  readonly budget: Budget;
  readonly poller: Poller;
}

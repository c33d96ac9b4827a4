import { DropCounter, type PollResult } from '../../contract/poll-result.ts';
import type { Task } from '../../contract/task.ts';
import type { ReportDrop } from '../../metrics/samples.ts';
import type { PortalContext } from './context.ts';

/** What all tasks of a collector have in common. */
export type TaskSettings = Pick<Task, 'intervalMs' | 'without'>;

/** A task without an appliance. It is suspended while the role or the licence does not permit the operation. */
export function accountTask(
  { options, withoutFuture }: PortalContext,
  settings: TaskSettings,
  operation: string,
  poll: (reportDrop: ReportDrop, signal: AbortSignal) => Promise<Pick<PollResult, 'samples' | 'respondedAt'>>,
): Task {
  return {
    id: `portal/${operation}`,
    api: 'portal',
    operation,
    ...settings,
    suspendedIntervalMs: Math.max(settings.intervalMs, options.discoveryIntervalMs),
    retriesBeforeSlot: true,
    async poll(signal) {
      const drops = new DropCounter();
      return withoutFuture({ ...(await poll(drops.reportDrop, signal)), drops: drops.counts, empty: false });
    },
  };
}

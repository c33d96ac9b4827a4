import { CountingStart } from '../../../runtime/counting-start.ts';
import { inSlices } from '../../../runtime/slices.ts';
import { accountTask, type CollectorRow } from '../collector-row.ts';
import { pagesOf } from '../paging.ts';
import { NotificationLedger } from './notification-ledger.ts';
import { notificationTables } from './notifications-tables.ts';

/** The portal's notifications, each counted once. */
export const notifications: CollectorRow = {
  name: 'notifications',
  intervalMs: 300_000,
  tables: notificationTables,
  cost: { account: 1, perAppliance: 0, perVolume: 0 },
  size: { account: 40 },
  create: (parts, intervalMs) => {
    if (parts.shard.index !== 0) return () => [];
    const { client, clock } = parts;
    const ledger = new NotificationLedger(new CountingStart(clock));
    parts.keeps('notifications', ledger);
    const task = accountTask(parts, intervalMs, 'notifications', async (note, signal) => {
      const request = {
        method: 'GET',
        path: '/notifications',
        operation: 'notifications',
        size: 'list',
        query: {
          start_date: new Date(ledger.from(clock.now() / 1000) * 1000).toISOString(),
          // Oldest first: if a round ends early, the next one continues from there.
          sort_by: 'generated_at',
          sort_direction: 'asc',
          include_count: 'false',
        },
      } as const;
      for await (const page of pagesOf(client, request, signal)) await inSlices(ledger.absorb(page, note), clock);
      ledger.ended(clock.now() / 1000);
      return ledger.samples();
    });
    return () => [task];
  },
};

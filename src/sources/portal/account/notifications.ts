import { CountingStart } from '../../../runtime/counting-start.ts';
import { accountReads, type CollectorRow } from '../collector-row.ts';
import { NotificationLedger, notificationFamilies } from './notification-ledger.ts';

export const notifications: CollectorRow = {
  name: 'notifications',
  intervalMs: 300_000,
  tables: [{ source: 'GET /notifications', subject: [], families: notificationFamilies }],
  cost: { account: 1 },
  size: { account: 40 },
  create: accountReads(({ clock, keeps }) => {
    const ledger = new NotificationLedger(new CountingStart(clock));
    keeps('notifications', ledger);
    return [
      {
        operation: 'notifications',
        path: '/notifications',
        paged: true,
        query: () => ({
          start_date: new Date(ledger.from(clock.now() / 1000) * 1000).toISOString(),
          // Oldest first: if a round ends early, the next one continues from there.
          sort_by: 'generated_at',
          sort_direction: 'asc',
          include_count: 'false',
        }),
        async read({ records, note }) {
          for await (const record of records) ledger.take(record, note);
          ledger.ended(clock.now() / 1000);
          return ledger.samples();
        },
      },
    ];
  }),
};

import { explainFor } from '../../../src/contract/causes.ts';
import { portalCauses } from '../../../src/services/portal/causes.ts';
import { type ReportedService, type StatusReport, statusReport } from '../../../src/status/report.ts';
import { ServiceLimits } from '../../../src/transport/rate/limits.ts';
import { inventory, type PollingRun, seriesOf, task } from '../polling/polling-run.ts';

/** Twelve appliances with three series each, the inventory, and an operation of the account. */
export const fleet = [...seriesOf(12, 3), inventory, task('account_license')];

/** The report about a run, as that of a portal. */
export function reportOf(run: PollingRun, more: Partial<ReportedService> = {}): StatusReport {
  const { clock, poller } = run;
  const limit = { requests: 500, windowMs: 30_000 };
  const settings = { limit, dailyLimit: 1_000_000, maxPerMs: 0.02, concurrency: 4 };
  const service: ReportedService = {
    api: 'portal',
    title: 'Portal',
    intervalMs: 300_000,
    target: { baseUrl: 'https://portal.example.com', dailyLimit: 1_000_000 },
    limits: new ServiceLimits(settings, { clock, random: () => 0.5 }),
    clockSkewMs: () => 2_500,
    explain: explainFor(portalCauses),
    poller,
    ...more,
  };
  poller.review();
  return statusReport([service], { version: '1.2.3', revision: 'abc', clock });
}

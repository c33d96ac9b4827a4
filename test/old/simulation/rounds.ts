import { formatDuration } from '../../src/config/duration.ts';
import { STANDARD_SERIES } from '../../src/services/portal/appliances/series-operations.ts';
import { collectorDefinitions } from '../../src/services/portal/collectors.ts';
import { collectorDemands } from '../../src/services/portal/planning.ts';

/** The fleet of which docs/limits.md says what each collector takes. */
export const APPLIANCES = 100;
export const VOLUMES = 5;
const DAY_MS = 86_400_000;

/** Where the plan, which knows no more than a number of appliances, is not exact. */
const DIFFERENCES: Readonly<Record<string, number>> = {
  // Eight of the hundred are file-intelligence appliances, which have no page of their own.
  edges: -8,
  // A hundred appliances have more to tell in a quarter of an hour, and more credentials, than one page holds.
  notifications: 1,
  credentials: 5,
  // Which volumes there are is asked for as seldom as the inventory.
  volume_telemetry: 1,
};

/** One collector, and how many requests one round of it takes. */
export interface Round {
  readonly name: string;
  readonly intervalMs: number;
  readonly requests: number;
}

/** The telemetry of the appliances, each of which has one of the two memory series, then the other collectors, as planned; a test measures them. */
export function rounds(): readonly Round[] {
  const others = collectorDefinitions.map(({ name, intervalMs }) => {
    const [planned] = collectorDemands({ collectors: [{ name, intervalMs }] }, APPLIANCES, VOLUMES);
    return { name, intervalMs, requests: (planned?.requests ?? 0) + (DIFFERENCES[name] ?? 0) };
  });
  return [
    { name: 'telemetry', intervalMs: 300_000, requests: APPLIANCES * (STANDARD_SERIES.length - 1) },
    ...others.filter(({ name }) => name !== 'telemetry'),
  ];
}

/** The rounds as a table in Markdown. */
export function roundsTable(): string {
  const lines = rounds().map(({ name, intervalMs, requests }) => {
    const day = Math.round((requests * DAY_MS) / intervalMs).toLocaleString('en');
    return `| \`${name}\` | ${formatDuration(intervalMs)} | ${requests.toLocaleString('en')} | ${day} |`;
  });
  return ['| collector | every | requests each time | requests a day |', '|---|---|---|---|', ...lines, ''].join('\n');
}

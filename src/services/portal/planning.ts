import { formatDuration } from '../../config/duration.ts';
import { type Family, isEveryOtherField } from '../../metrics/family.ts';
import { type FleetPlan, formatInteger, type Plan, planFor, roundDuration } from '../../planning/plan.ts';
import { DailyQuota } from '../../transport/rate/daily-quota.ts';
import { INVENTORY_LISTS } from './appliances/inventory-lists.ts';
import { operationsFor } from './appliances/series-operations.ts';
import type { NamedInterval } from './collector-options.ts';
import { enabledCollectors } from './collectors.ts';
import type { PortalSettings } from './configuration.ts';

/** The requests of each collector in one cycle. */
export function collectorDemands(
  { collectors }: Pick<PortalSettings, 'collectors'>,
  appliances: number,
  volumes: number,
): readonly (NamedInterval & { readonly requests: number; readonly first: number })[] {
  return enabledCollectors(collectors).map(
    ({ definition: { name, reads = [], requestsPerCycle = { account: reads.length } }, intervalMs }) => {
      const { account = 0, perAppliance = 0, perVolume = 0 } = requestsPerCycle;
      const requests = account + perAppliance * appliances + perVolume * volumes;
      return { name, requests, first: account, intervalMs };
    },
  );
}

export function createPlan(portal: PortalSettings, appliances: number, volumes = 0): Plan {
  const plans = plansOf(portal, appliances, volumes);
  const plan = plans[portal.mode];
  const { economy } = plans;
  if (plan.fits || economy.effectiveIntervalMs >= plan.effectiveIntervalMs) return plan;
  const interval = formatDuration(portal.intervalMs);
  const gain = economy.fits
    ? `CPU, load, cores and uptime every ${interval}, the other series every ${formatDuration(portal.fullIntervalMs)}`
    : `it does not fit either, but data would be polled every ${roundDuration(economy.effectiveIntervalMs)}`;
  return { ...plan, advice: [`PORTAL_MODE=economy: ${gain}`, ...plan.advice] };
}

function plansOf(
  portal: PortalSettings,
  appliances: number,
  volumes = 0,
): Readonly<Record<PortalSettings['mode'], Plan>> {
  const { rateLimit, dailyLimit } = portal;
  const quota = new DailyQuota(dailyLimit, 0);
  const requests = INVENTORY_LISTS.length;
  const discovery = { requests, first: requests, intervalMs: portal.discoveryIntervalMs };
  const demand = {
    intervalMs: portal.intervalMs,
    variables: { interval: 'PORTAL_INTERVAL', series: 'PORTAL_SERIES', appliances: 'PORTAL_SERIALS' },
    appliances,
    additional: [discovery, ...collectorDemands(portal, appliances, volumes)],
    limit: rateLimit,
    dailyLimit,
    allowedPerSecond: Math.min((rateLimit.requests / rateLimit.windowMs) * 1000, quota.perSecond),
  };
  const { full, economy } = portal.seriesByMode;
  return {
    full: planFor({ ...demand, series: seriesOfOne(full) }),
    economy: planFor({ ...demand, series: seriesOfOne(economy) }),
  };
}

/** The series that one appliance is polled for. Its build has one of the two memory series. */
export function seriesOfOne(series: readonly NamedInterval[]): readonly NamedInterval[] {
  const hasDetails = series.some(({ name }) => name === 'memory_utilization_details');
  return hasDetails ? series.filter(({ name }) => name !== 'memory_utilization') : series;
}

/** How many samples the series of one appliance have. */
export function seriesSamples({ series, mode }: PortalSettings): number {
  const names = seriesOfOne(series).map(({ name }) => name);
  const families = [...operationsFor(names, mode === 'economy').values()].map((operation) => operation.families);
  const samplesOf = ({ fields }: Family) => (isEveryOtherField(fields) ? 3 : Object.keys(fields).length);
  // Each series has one more sample, for its timestamp.
  return families.flat().reduce((sum, family) => sum + samplesOf(family), families.length);
}

export function fleetPlan(portal: PortalSettings, appliances: number): FleetPlan {
  return {
    plan: createPlan(portal, appliances),
    requestRows: [
      ['Series', `${seriesOfOne(portal.series).length} of each`],
      ...collectorDemands(portal, appliances, 0).map(({ name, requests, intervalMs }): readonly [string, string] => [
        `Collector ${name}`,
        name === 'volume_telemetry'
          ? `3 requests for each volume every ${roundDuration(intervalMs)}, not counted here`
          : `${formatInteger(requests)} requests every ${roundDuration(intervalMs)}`,
      ]),
    ],
    modeTable: modeTable(portal, appliances),
  };
}

function modeTable(portal: PortalSettings, appliances: number): FleetPlan['modeTable'] {
  if (portal.series.length === 0) return [];
  const plans = plansOf(portal, appliances);
  const modes = (['full', 'economy'] as const).map((mode) => {
    const plan = plans[mode];
    const intervalFactor = plan.effectiveIntervalMs / portal.intervalMs;
    const otherSeriesMs = mode === 'full' ? portal.intervalMs : portal.fullIntervalMs;
    return [
      mode === portal.mode ? `${mode} (as set)` : mode,
      `every ${roundDuration(plan.effectiveIntervalMs)}`,
      `every ${roundDuration(otherSeriesMs * intervalFactor)}`,
      formatInteger(plan.requestsPerDay),
      plan.fits ? 'yes' : 'no',
    ];
  });
  const labels = ['PORTAL_MODE', 'CPU, load and cores', 'Other series', 'Requests a day', 'Fits'];
  return [labels, ...modes];
}

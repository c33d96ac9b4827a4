import { formatDuration } from '../../config/duration.ts';
import type { FleetDemand } from '../service.ts';
import { INVENTORY_LISTS } from './appliances/inventory.ts';
import { enabledCollectors } from './collectors.ts';
import type { NamedInterval } from './selection.ts';
import type { PortalSettings } from './settings.ts';

/** The requests of a fleet. Those for each volume are left out, because `--plan` does not know the volumes. */
export function fleetDemand(portal: PortalSettings, appliances: number): FleetDemand {
  const { intervalMs, discoveryIntervalMs, rateLimit: limit, dailyLimit } = portal;
  const series = seriesOfOne(portal.series);
  const ofSeries = [...new Set(series.map((one) => one.intervalMs))].map((everyMs) => {
    const count = series.filter((one) => one.intervalMs === everyMs).length;
    return { label: `${count} series of each`, requests: count * appliances, intervalMs: everyMs };
  });
  const ofCollectors = enabledCollectors(portal.collectors).map(({ definition, intervalMs: everyMs }) => {
    const { name, reads = [], requestsPerCycle: { perAppliance = 0, perVolume = 0 } = {} } = definition;
    const perVolumeNote = `${perVolume} requests for each volume every ${formatDuration(everyMs)}, not counted here`;
    return {
      label: `Collector ${name}`,
      requests: reads.length + perAppliance * appliances,
      hasPriority: perAppliance === 0,
      intervalMs: everyMs,
      ...(perVolume > 0 && { note: perVolumeNote }),
    };
  });
  const inventory = { requests: INVENTORY_LISTS.length, hasPriority: true, intervalMs: discoveryIntervalMs };
  return {
    intervalMs,
    series: series.length,
    requests: [...ofSeries, { label: 'Inventory', ...inventory }, ...ofCollectors],
    limit,
    dailyLimit,
  };
}

/** The series that one appliance is polled for. Its build has one of the two memory series. */
function seriesOfOne(series: readonly NamedInterval[]): readonly NamedInterval[] {
  const hasDetails = series.some(({ name }) => name === 'memory_utilization_details');
  return hasDetails ? series.filter(({ name }) => name !== 'memory_utilization') : series;
}

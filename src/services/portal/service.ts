import { formatDuration } from '../../config/duration.ts';
import type { Table } from '../../metrics/family.ts';
import type { FleetDemand, Service } from '../service.ts';
import { INVENTORY_LISTS, maxAppliances } from './appliances/inventory.ts';
import * as series from './appliances/series-families.ts';
import { seriesOperations } from './appliances/series-operations.ts';
import { portalCauses } from './causes.ts';
import { withToken } from './client.ts';
import { PortalCollector } from './collector.ts';
import { portalTables } from './collectors.ts';
import { createPortalCheck } from './doctor/check.ts';
import type { NamedInterval } from './selection.ts';
import { type PortalSettings, portalSection } from './settings.ts';
import { TokenSource } from './token.ts';

const tables: readonly Table[] = [
  { source: 'GET /serials, GET /edges', commonLabels: series.applianceLabels, families: series.inventoryTable },
  { source: 'polls', commonLabels: series.applianceLabels, families: Object.values(series.applianceStateFamilies) },
  ...Object.entries(seriesOperations).map(([source, { families }]) => {
    return { source, commonLabels: series.applianceLabels, families };
  }),
  { source: 'every series', commonLabels: [...series.applianceLabels, 'series'], families: [series.seriesTimestamp] },
  ...portalTables,
];

export const portal: Service<PortalSettings> = {
  section: portalSection,
  title: 'Portal',
  causes: portalCauses,
  tables,
  // Series use POST but only read. An id matches `[\w-]+`, so that a server cannot read it as another path, such as `..`.
  allowed: [
    { method: 'POST', path: /^\/auth\/token(?:\/refresh)?$/ },
    { method: 'DELETE', path: /^\/auth\/token$/ },
    { method: 'POST', path: /^\/telemetry\/(?:appliances|volumes)\/[\w-]+\/[a-z_]+$/ },
  ],

  target: ({ url, rateLimit, dailyLimit, concurrency }) => ({
    baseUrl: url,
    limit: rateLimit,
    dailyLimit,
    maxPerMs: rateLimit.requests / rateLimit.windowMs,
    concurrency,
  }),

  // The daily quota that is saved belongs to one portal.
  stateOwner: ({ url }) => [url],

  createCheck(settings, parts) {
    const options = { ...parts.config, ...settings, maxAppliances: Number.POSITIVE_INFINITY };
    return createPortalCheck(options, parts);
  },

  planning: {
    placeholder: { PORTAL_URL: 'https://portal.invalid', PORTAL_USER_KEY: 'not-used' },
    demand: fleetDemand,
  },

  historyBins: ({ lookbackMs, binSeconds }) => ({ lookbackMs, binMs: binSeconds * 1000 }),

  connect(settings, { client, config, clock, log, heapBytes, names }) {
    names.isInventoryRead = false;
    const tokens = new TokenSource(client, settings.credentials, clock);
    const options = { ...config, ...settings, maxAppliances: maxAppliances(heapBytes) };
    const collector = new PortalCollector(withToken(client, tokens), options, { clock, log, names });
    return {
      collector,
      intervalMs: settings.intervalMs,
      inventory: {
        families: settings.series.length === 0 ? undefined : series.applianceStateFamilies,
        async count(signal) {
          await collector.inventory.task.poll(signal);
          return collector.appliances.length;
        },
        gaps: () => collector.inventory.gaps,
        describe: (serial) => collector.context.appliances.find(serial),
      },
      warnings: () => collector.warnings,
      renewAuthorization: (signal) => tokens.signInAgain(signal),
      close: (signal) => tokens.revoke(signal),
    };
  },
};

/** The requests of a fleet. Those for each volume are left out, because `--plan` does not know the volumes. */
export function fleetDemand(portal: PortalSettings, appliances: number): FleetDemand {
  const { intervalMs, discoveryIntervalMs, rateLimit: limit, dailyLimit } = portal;
  const series = seriesOfOne(portal.series);
  const ofSeries = [...new Set(series.map((one) => one.intervalMs))].map((everyMs) => {
    const count = series.filter((one) => one.intervalMs === everyMs).length;
    return { label: `${count} series of each`, requests: count * appliances, intervalMs: everyMs };
  });
  const ofCollectors = portal.collectors.map(({ name, intervalMs: everyMs, reads = [], requestsPerCycle = {} }) => {
    const { perAppliance = 0, perVolume = 0 } = requestsPerCycle;
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

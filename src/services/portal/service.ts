import type { Config } from '../../config/config.ts';
import type { Table } from '../../metrics/family.ts';
import type { Service } from '../service.ts';
import { maxAppliances } from './appliances/inventory.ts';
import * as series from './appliances/series-families.ts';
import { portalCauses } from './causes.ts';
import { PortalClient } from './client.ts';
import { PortalCollector } from './collector.ts';
import { portalTables } from './collectors.ts';
import type { PortalOptions } from './context.ts';
import { createPortalCheck } from './doctor/check.ts';
import { fleetDemand } from './planning.ts';
import { type PortalSettings, portalSection } from './settings.ts';
import { TokenSource } from './token.ts';

const tables: readonly Table[] = [
  { source: 'GET /serials, GET /edges', commonLabels: series.applianceLabels, families: series.inventoryTable },
  { source: 'polls', commonLabels: series.applianceLabels, families: Object.values(series.applianceStateFamilies) },
  ...Object.entries({
    ...series.standardSeries,
    ...series.additionalSeries,
    current_appliance_performance: series.currentPerformance,
    appliance_health_score: series.healthScore,
  }).map(([source, families]) => ({ source, commonLabels: series.applianceLabels, families })),
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

  createCheck: (settings, parts) => createPortalCheck(collectorOptions(parts.config, settings), parts),

  planning: {
    placeholder: { PORTAL_URL: 'https://portal.invalid', PORTAL_USER_KEY: 'not-used' },
    demand: fleetDemand,
  },

  historyBins: ({ lookbackMs, binSeconds }) => ({ lookbackMs, binMs: binSeconds * 1000 }),

  connect(settings, { client, config, clock, log, heapBytes, names }) {
    names.isInventoryRead = false;
    const tokens = new TokenSource(client, settings.credentials, clock);
    const collector = new PortalCollector(
      new PortalClient(client, tokens),
      collectorOptions(config, settings, heapBytes),
      { clock, log, names },
    );
    return {
      collector,
      intervalMs: settings.intervalMs,
      inventory: {
        families: settings.series.length === 0 ? undefined : series.applianceStateFamilies,
        async count(signal) {
          await collector.inventory.discover(signal);
          return collector.appliances.length;
        },
        gaps: () => collector.inventory.gaps,
        describe: (serial) => collector.context.appliances.find(serial),
      },
      tokenSecondsLeft: () => tokens.remainingSeconds,
      warnings: () => collector.warnings,
      renewAuthorization: (signal) => tokens.signInAgain(signal),
      close: (signal) => tokens.revoke(signal),
    };
  },
};

function collectorOptions(
  { staleAfter, forgetAfterMs, eventBucketsSeconds }: Config,
  portal: PortalSettings,
  heapBytes = Number.POSITIVE_INFINITY,
): PortalOptions {
  return {
    ...portal,
    staleAfter,
    forgetAfterMs,
    bounds: eventBucketsSeconds,
    maxAppliances: maxAppliances(heapBytes),
  };
}

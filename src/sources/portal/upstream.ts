import type { Config } from '../../config/config.ts';
import type { Table } from '../../metrics/family.ts';
import { feasibility } from '../../planning/warning.ts';
import type { Upstream } from '../upstream.ts';
import { mostAppliances } from './appliances/inventory.ts';
import * as series from './appliances/series.ts';
import { PortalClient } from './client.ts';
import { PortalCollector } from './collector.ts';
import { chosenRows, portalTables } from './collectors.ts';
import { type PortalConfig, portalSection } from './configuration.ts';
import { portalExamination } from './examination.ts';
import { settingsForPast } from './past.ts';
import { fleetPlan, planOf, seriesSamples, shareOf } from './planning.ts';
import { portalRequests } from './requests.ts';
import type { PortalSettings } from './settings.ts';
import { TokenSource } from './token.ts';

const tables: readonly Table[] = [
  { source: 'GET /serials, GET /edges', subject: series.applianceLabels, families: series.inventoryTable },
  { source: 'polls', subject: series.applianceLabels, families: Object.values(series.applianceVerdict) },
  ...Object.entries({
    ...series.standardSeries,
    ...series.furtherSeries,
    current_appliance_performance: series.currentPerformance,
    appliance_health_score: series.healthScore,
  }).map(([source, families]) => ({ source, subject: series.applianceLabels, families })),
  { source: 'every series', subject: [...series.applianceLabels, 'series'], families: [series.seriesTimestamp] },
  ...portalTables,
];

export const portal: Upstream<PortalConfig> = {
  section: portalSection,
  title: 'Portal',
  tables,
  allowed: portalRequests,
  namesFilers: true,

  target(settings, { shard }) {
    const { rateLimit, dailyLimit } = shareOf(settings, shard.total);
    return {
      baseUrl: settings.url,
      limit: rateLimit,
      dailyLimit,
      mostPerMs: rateLimit.requests / rateLimit.windowMs,
      concurrency: settings.concurrency,
    };
  },

  // A budget belongs to the portal and the shard.
  owner: ({ url }, { shard }) => [url, String(shard.index)],

  // The inventory adds two lines for each appliance.
  size: (settings) => [
    { appliance: 2 + seriesSamples(settings) },
    ...chosenRows(settings.collectors).map(({ row }) => row.size),
  ],

  planning: {
    placeholder: { PORTAL_URL: 'https://portal.invalid', PORTAL_USER_KEY: 'not-used' },
    forFleet: fleetPlan,
  },

  examine: (settings, parts) => portalExamination(portalSettings(parts.config, settings), parts),

  points: ({ intervalMs, lookbackMs, binSeconds }) => ({ intervalMs, lookbackMs, binMs: binSeconds * 1000 }),

  past: (settings, wanted) => ({ settings: settingsForPast(settings, wanted), binMs: settings.binSeconds * 1000 }),

  connect(settings, { client, config, clock, random, log, heapBytes, names, wantedSince }) {
    const { shard } = config;
    const judge = feasibility(log);
    const tokens = new TokenSource(client, settings.credentials, clock);
    const collector = new PortalCollector(
      new PortalClient(client, tokens, { clock, random }),
      { ...portalSettings(config, settings, heapBytes), names, ...(wantedSince && { wantedSince }) },
      { clock, log },
    );
    return {
      collector,
      intervalMs: settings.intervalMs,
      appliances: settings.series.length === 0 ? undefined : series.applianceVerdict,
      onTasks(tasks) {
        const volumes = tasks.filter(({ operation }) => operation === 'snapshot_details').length;
        judge(planOf(settings, collector.appliances.length, shard.total, volumes), tasks.length);
      },
      async count(signal) {
        await collector.inventory.discover(signal);
        return collector.appliances.length;
      },
      tokenSecondsLeft: () => tokens.secondsLeft,
      inventoryGaps: () => collector.inventory.gaps,
      notes: () => collector.notes,
      variants: () => collector.parts.unitWatch.variants,
      describe: (serial) => collector.parts.appliances.find(serial),
      release: (signal) => tokens.revoke(signal),
      counts: collector,
    };
  },
};

function portalSettings(
  { shard, staleAfter, forgetAfterMs, events }: Config,
  portal: PortalConfig,
  heapBytes = Number.POSITIVE_INFINITY,
): PortalSettings & PortalConfig {
  return {
    ...portal,
    shard,
    staleAfter,
    forgetAfterMs,
    bounds: events.histograms ? events.bucketsSeconds : [],
    mostAppliances: mostAppliances(heapBytes),
  };
}

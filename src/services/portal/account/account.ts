import type { Family } from '../../../metrics/family.ts';
import { booleanValue, futureDate, infoOne, unitless } from '../../../metrics/units.ts';
import type { CollectorDefinition } from '../context.ts';

const FEATURES = [
  'analytics_connector_enabled',
  'uaas_enabled',
  'nds_enabled',
  'prune_enabled',
  'gfa_enabled',
  'file_iq_enabled',
  'file_iq_premium',
  's3_enabled',
  'naa_enabled',
  'awada_enabled',
  'ops_iq_premium',
  'ransomware_protection_enabled',
  'multi_site_collaboration_enabled',
  'ai_activate',
  'enterprise_search',
] as const;

const licenceTable = [
  {
    name: 'filer_license_info',
    help: 'Always 1: the status of the account’s subscription.',
    from: infoOne,
    fields: { subscription_status: {} },
    enumLabels: { status: { field: 'subscription_status' } },
  },
  {
    name: 'filer_license_expiry_timestamp_seconds',
    help: 'Time when the account’s subscription ends; missing if it has no end.',
    from: futureDate,
    fields: { subscription_expiration: {} },
  },
  {
    name: 'filer_license_feature_enabled',
    help: '1 when the licence has the feature, else 0; without ops_iq_premium the portal sends no telemetry.',
    from: booleanValue,
    fields: Object.fromEntries(FEATURES.map((name) => [name, { feature: name.replace(/_enabled$/, '') }])),
  },
] as const satisfies readonly Family[];

/** No personal data becomes a label. */
const accountTable = [
  {
    name: 'filer_portal_account_info',
    help: 'Always 1: the polled portal account and its company.',
    from: infoOne,
    fields: { id: {} },
    fieldLabels: { account: 'id', company: 'company' },
  },
] as const satisfies readonly Family[];

/** The families of the object `mcp` in `GET /account/ai_activate`. */
const consumptionTable = [
  {
    name: 'filer_indexing_limit_files',
    help: 'Files that the subscription allows to be indexed.',
    from: unitless,
    fields: { subscribed_limit: {} },
  },
  {
    name: 'filer_indexing_consumed_files',
    help: 'Files that are indexed.',
    from: unitless,
    fields: { consumed: {} },
  },
  {
    name: 'filer_indexing_remaining_files',
    help: 'Files that may still be indexed; negative above the limit.',
    from: unitless,
    fields: { remaining: {} },
  },
] as const satisfies readonly Family[];

export const license: CollectorDefinition = {
  name: 'license',
  intervalMs: 3_600_000,
  reads: [
    {
      path: '/account/license',
      object: {
        families: licenceTable,
        onResponse({ ops_iq_premium }, { licence }) {
          const premium = booleanValue.read(ops_iq_premium);
          licence.hasTelemetry = premium === undefined ? undefined : premium === 1;
        },
      },
    },
    { path: '/account', object: { families: accountTable } },
    { path: '/account/ai_activate', object: { families: consumptionTable, part: 'mcp' } },
  ],
};

export const health: CollectorDefinition = {
  name: 'health',
  intervalMs: 300_000,
  reads: [
    {
      path: '/health',
      object: {
        families: [
          {
            name: 'filer_portal_healthy',
            help: '1 when the portal reports itself healthy, else 0.',
            from: booleanValue,
            fields: { healthy: {} },
          },
        ],
      },
    },
  ],
};

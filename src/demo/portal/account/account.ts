import { json, type Scene } from '../../exchange.ts';
import { confidentialOf } from '../../world/confidential.ts';
import { MINUTE_MS } from '../../world/waveforms.ts';
import { type Item, item, worded } from '../item.ts';
import { type DemoOperation, get } from '../operation.ts';

/** The limit of indexed files of the account, and the number of new ones each minute. */
const INDEXING = { limit: 5_000_000, atStart: 4_200_000, perMinute: 137 } as const;

/** The account, its licence, its indexed files, and the health of the service. */
export const accountOperations: readonly DemoOperation[] = [
  { ...get('health', '/health', () => json(200, { healthy: true })), isPublic: true },
  get('account', '/account', ({ world }) => {
    const { person, usernames } = confidentialOf(world.seed);
    return json(200, {
      id: world.account,
      company: 'Example Works',
      created: '2021-04-06T08:00:00Z',
      email: usernames[0],
      first_name: person.firstName,
      last_name: person.lastName,
      phone: person.phone,
    });
  }),
  get('license', '/account/license', (scene) => json(200, license(scene))),
  get('account_ai_activate', '/account/ai_activate', ({ world, variations, now }) => {
    const minutes = Math.max(0, Math.floor((now - world.startedAt) / MINUTE_MS));
    const consumed = INDEXING.atStart + minutes * INDEXING.perMinute;
    const counts = { subscribed_limit: INDEXING.limit, consumed, remaining: INDEXING.limit - consumed };
    return json(200, { mcp: item('ai activate', counts, {}, variations) });
  }),
];

function license({ variations }: Scene): Item {
  return item(
    'license',
    {
      subscription_status: worded('license', 'active', 'in_grace', variations),
      analytics_connector_enabled: false,
      uaas_enabled: true,
      nds_enabled: true,
      prune_enabled: true,
      gfa_enabled: true,
      file_iq_enabled: true,
      s3_enabled: false,
      naa_enabled: false,
      awada_enabled: false,
      ops_iq_premium: variations.opsIqPremium,
    },
    {
      subscription_expiration: '2030-01-01T00:00:00Z',
      file_iq_premium: false,
      ransomware_protection_enabled: true,
      multi_site_collaboration_enabled: true,
      ai_activate: true,
      anonymize_third_party_analytics: false,
      enterprise_search: false,
      max_now_storage: 0,
      max_cloud_storage: 0,
      byoc_clouds: [{ protocol: 'amazons3', vendor: 'customer', shortname: 'amazons3', display_name: 'Objects' }],
    },
    variations,
  );
}

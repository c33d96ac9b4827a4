import { json } from '../../exchange.ts';
import { confidentialOf } from '../../world/confidential.ts';
import { type DemoOperation, get } from '../operation.ts';

/** The settings of the account. */
export const configurationOperations: readonly DemoOperation[] = [
  get('configuration_sso', '/configuration/sso', ({ world }) =>
    json(200, { ...signOn(world.seed), name: 'Company sign-on', login_button_label: null }),
  ),
  get('configuration_web_access_sso', '/configuration/web_access_sso', ({ world }) =>
    json(200, { ...signOn(world.seed), login_button_label: 'Sign in' }),
  ),
  get('configuration_s3_edge', '/configuration/s3_edge', ({ world }) => {
    const secret = confidentialOf(world.seed).s3EdgeSecret;
    return json(200, { buckets: [], keys: [{ name: 'objects', access: `access-${secret}`, secret }] });
  }),
  get('configuration_software', '/configuration/software', () => json(200, { linked_amazon_account_ids: [] })),
  get('configuration_ai_activate', '/configuration/ai_activate', () => json(200, { remote_support: false })),
];

function signOn(seed: number) {
  return { provider: 'example', client_id: 'portal', secret: confidentialOf(seed).ssoSecret, key: 'public' };
}

import { baseUrl, headerName } from '../../config/addresses.ts';
import { duration, headerValue, listOf, oneOf, secret, within } from '../../config/formats.ts';
import { serviceSection } from '../../config/table.ts';
import type { GfaClientSettings } from './client.ts';
import { GROUPS } from './families.ts';

export interface GfaSettings extends GfaClientSettings {
  /** Base URL, ending in `/v1`, without a slash at the end. */
  readonly url: string;
  readonly intervalMs: number;
}

export const gfaSection = serviceSection({
  api: 'gfa',
  url: 'GFA_URL',
  variables: {
    GFA_URL: {
      format: baseUrl('/v1'),
      help: 'base URL of file acceleration; if unset, this service is not polled',
    },
    GFA_TOKEN: {
      format: secret,
      unset: 'required with `GFA_URL`',
      help: 'the API key; sent unchanged in `Authorization`',
    },
    GFA_CLIENT_KEY: {
      format: headerValue,
      default: 'filer-exporter',
      help: 'name of this client of the service; each exporter on one token needs its own',
    },
    GFA_CLIENT_KEY_HEADER: {
      format: headerName,
      default: 'X-Service-client-key',
      help: 'the header that carries the client key',
    },
    GFA_INTERVAL: {
      format: within(duration, '1s'),
      default: '60s',
      help: 'target time between two polls',
    },
    GFA_METRICS: {
      format: listOf(oneOf(GROUPS), 'words'),
      default: 'filers,volumes,locks,propagation',
      help: 'the groups of records to request',
    },
  },

  errors: ({ isSet }) =>
    isSet('GFA_URL') && !isSet('GFA_TOKEN')
      ? ['GFA_TOKEN: is not set; GFA_URL needs it: set GFA_TOKEN or GFA_TOKEN_FILE']
      : [],

  toSettings(values): GfaSettings | undefined {
    // The check above guarantees that there is a token if there is a URL.
    if (values.GFA_URL === undefined || values.GFA_TOKEN === undefined) return undefined;
    return {
      url: values.GFA_URL,
      token: values.GFA_TOKEN,
      clientKey: values.GFA_CLIENT_KEY,
      clientKeyHeader: values.GFA_CLIENT_KEY_HEADER,
      intervalMs: values.GFA_INTERVAL,
      groups: values.GFA_METRICS,
    };
  },
});

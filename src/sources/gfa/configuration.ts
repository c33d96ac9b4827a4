import { baseUrl, headerName } from '../../config/addresses.ts';
import { formatDuration } from '../../config/duration.ts';
import { duration, headerValue, SHORTEST_INTERVAL_MS, secret } from '../../config/kinds.ts';
import { wordList } from '../../config/lists.ts';
import { secretText } from '../../config/secrets.ts';
import { fault, serviceSection } from '../../config/section.ts';
import type { GfaSettings } from './client.ts';
import { GROUPS } from './series.ts';

/** How the file acceleration telemetry service is polled. */
export interface GfaConfig extends GfaSettings {
  /** Base URL, ending in `/v1`, without a slash behind it. */
  readonly url: string;
  readonly intervalMs: number;
}

export const gfaSection = serviceSection({
  api: 'gfa',
  url: 'GFA_URL',
  variables: {
    GFA_URL: {
      kind: baseUrl('/v1'),
      help: 'base URL of the file acceleration telemetry service; unset: not polled',
    },
    GFA_TOKEN: {
      kind: secret,
      secret: true,
      file: true,
      unset: 'none; required with `GFA_URL`',
      help: 'sent as is in `Authorization`',
    },
    GFA_CLIENT_KEY: {
      kind: headerValue,
      default: 'filer-exporter',
      help: 'names this client within the token: two exporters on one token need two keys',
    },
    GFA_CLIENT_KEY_HEADER: {
      kind: headerName,
      default: 'X-Service-client-key',
      help: 'the header that carries the client key',
    },
    GFA_INTERVAL: {
      kind: duration({ least: SHORTEST_INTERVAL_MS }, '60s or 5m'),
      default: '60s',
      help: 'time between two polls',
    },
    GFA_METRICS: {
      kind: wordList(GROUPS),
      default: 'filers,volumes,locks,propagation',
      help: 'groups to ask for, out of these four; the others are switched off in the query',
    },
  },

  faults: ({ isSet }) =>
    isSet('GFA_URL') && !isSet('GFA_TOKEN')
      ? [fault('GFA_TOKEN', 'is not set; expected with GFA_URL, as itself or as GFA_TOKEN_FILE')]
      : [],

  settle(values): GfaConfig | undefined {
    // The rules have seen to it that the token is there when the URL is.
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

  show: (gfa) =>
    gfa === undefined
      ? { GFA_URL: undefined }
      : {
          GFA_URL: gfa.url,
          GFA_TOKEN: secretText(gfa.token),
          GFA_CLIENT_KEY: gfa.clientKey,
          GFA_CLIENT_KEY_HEADER: gfa.clientKeyHeader,
          GFA_INTERVAL: formatDuration(gfa.intervalMs),
          GFA_METRICS: gfa.groups.join(','),
        },
});

import { catalog } from '../../src/catalog.ts';
import { beyond, type Endpoint, isOfToken, onlyReads, published } from './endpoints.ts';

/*
 * docs/coverage.md: how each operation is handled that only reads. The operations come from the fixtures, the families
 * from the catalogue, and what is decided here is which collector asks, or why none does. `npm run docs` writes it,
 * test/coverage.test.ts compares it.
 */

/** Which collectors ask an operation; `gfa` and `inventory` are always on where their service is. */
const COLLECTORS: Readonly<Record<string, readonly string[]>> = {
  'GET /data': ['gfa'],
  'GET /health': ['health'],
  'GET /account': ['license'],
  'GET /account/license': ['license'],
  'GET /account/ai_activate': ['license'],
  'GET /ai_activate/inventories': ['indexing'],
  'GET /ai_activate/indexes': ['indexing'],
  'GET /cloud-credentials': ['credentials'],
  'GET /edges': ['inventory', 'edges', 'software'],
  'GET /edges/{edge_id}': ['edges'],
  'GET /fiq_appliances': ['fiq'],
  'GET /gfa/api_keys': ['gfa_keys'],
  'GET /uaas/stacks': ['stacks'],
  'GET /iam/users': ['iam'],
  'GET /iam/service_keys': ['iam'],
  'GET /iam/user_keys': ['iam'],
  'GET /jobs': ['jobs'],
  'GET /serials': ['inventory', 'edges'],
  'GET /software/downloads': ['software'],
  'GET /notifications': ['notifications'],
  'GET /volume_connections': ['volumes', 'volume_telemetry'],
  'POST /telemetry/volumes/{volume_id}/snapshot_timeline': ['volume_telemetry'],
  'POST /telemetry/volumes/{volume_id}/snapshot_details': ['volume_telemetry'],
  'POST /telemetry/volumes/{volume_id}/snapshot_propagation_by_appliance': ['volume_telemetry'],
};

const ONE_OF = 'the list has the same fields, in one request for all of them';
const SETTINGS = 'settings, which only people change; the response has secrets';
const RIGHTS = 'permissions, not measurements; the responses name people';

/** Why an operation is not polled. */
const REASONS: Readonly<Record<string, string>> = {
  'GET /activity-logs/records': 'what people did, by name: an audit trail, which belongs in a log store',
  'GET /activity-logs/records/{record_id}': 'one record of that list',
  'GET /ai_activate/inventories/{volume_id}': ONE_OF,
  'GET /ai_activate/indexes/{volume_id}': 'has the fields of the list, and paths, which may reveal contents',
  'GET /ai_activate/indexes/{volume_id}/mcp': 'settings of the query scope; names people and groups',
  'GET /configuration/sso': SETTINGS,
  'GET /configuration/web_access_sso': SETTINGS,
  'GET /configuration/s3_edge': SETTINGS,
  'GET /configuration/software': 'settings, which only people change',
  'GET /configuration/ai_activate': 'settings, which only people change',
  'GET /cloud-credentials/{credential_id}': ONE_OF,
  'GET /cloud-credentials/exports/{request_id}': 'state of an export that a person started; the exporter starts none',
  'GET /cloud-credentials/files/{file_id}': 'the file of such an export: the same list, with access keys',
  'GET /edges/{edge_id}/services/fiq': '`GET /edges` says whether it is on, `GET /fiq_appliances` has the connection',
  'GET /edges/{edge_id}/services/s3_edge': '`GET /edges` says whether it is on',
  'GET /fiq_appliances/{file_iq_serial}': ONE_OF,
  'GET /uaas/stacks/{stack_id}': 'has the fields of the list, and settings of the log',
  'GET /uaas/stacks/{stack_id}/nds': 'settings, with storage keys in the response',
  'GET /uaas/stacks/{stack_id}/volumes': 'settings: which volumes a stack serves',
  'GET /uaas/stacks/{stack_id}/volumes/{volume_id}': 'settings, with paths in the response',
  'GET /uaas/stacks/{stack_id}/sraas': 'runs of a clean-up without an id, so that a run cannot be counted once',
  'GET /uaas/analytics_connector': 'the response has the key of the connector',
  'GET /uaas/stacks/{stack_id}/nds/blob-keys': 'the response has storage keys',
  'GET /uaas/stacks/{stack_id}/nds/blob-keys/{blob_key_id}': 'the response has a storage key',
  'GET /iam/users/{user_id}': 'about one person',
  'GET /iam/users/{user_id}/roles': RIGHTS,
  'GET /iam/roles': RIGHTS,
  'GET /iam/roles/{role_id}': RIGHTS,
  'GET /iam/roles/{role_id}/permissions': RIGHTS,
  'GET /iam/permissions': 'the list of all rights, which is the same for every account',
  'GET /iam/me': 'the rights of the exporter’s own key; a response with 403 names the missing right',
  'GET /iam/service_keys/{service_key_id}': ONE_OF,
  'GET /iam/user_keys/{user_key_id}': ONE_OF,
  'GET /jobs/{job_id}': ONE_OF,
  'GET /serials/{serial_id}': ONE_OF,
  'GET /serials/{serial_id}/auth_code': 'the response is the code with which an appliance registers',
  'GET /software/downloads/{id}': 'a download address',
  'GET /volumes': 'names and providers, which `GET /volume_connections` has as well',
  'GET /volumes/{volume_id}': 'settings, and sizes as texts for people; a request for each volume',
  'GET /volumes/{volume_id}/details': 'settings, and sizes as texts for people; a request for each volume',
  'GET /volumes/{volume_id}/capacity-history':
    'one point a day for one request per volume; the accessible bytes of `GET /volume_connections` show growth earlier',
  'GET /volumes/{volume_id}/edges/{edge_id}/snapshots':
    'the status is in `GET /volume_connections`, for all pairs in one request',
  'POST /telemetry/volumes/{volume_id}/average_time_to_protect': 'part of `snapshot_details`',
  'POST /telemetry/volumes/{volume_id}/snapshot_content': 'part of `snapshot_details`',
};

/** How one operation is handled. */
export interface Covered {
  readonly endpoint: Endpoint;
  /** Empty for one that is not exported. */
  readonly collectors: readonly string[];
  readonly families: readonly string[];
  readonly reason: string | undefined;
}

/** Every operation that reads, those of the token left out, as decided. */
export function coverage(endpoints: readonly Endpoint[]): readonly Covered[] {
  return endpoints
    .filter((endpoint) => onlyReads(endpoint) && !isOfToken(endpoint))
    .map((endpoint) => {
      const name = `${endpoint.method} ${endpoint.path}`;
      const isSeries = endpoint.path.startsWith('/telemetry/appliances/');
      return {
        endpoint,
        collectors: isSeries ? ['telemetry'] : (COLLECTORS[name] ?? []),
        families: familiesOf(endpoint),
        reason: REASONS[name],
      };
    });
}

/** The names of decisions that are about no operation that there is. */
export function strayDecisions(): readonly string[] {
  const known = new Set([...published, ...beyond].map(({ method, path }) => `${method} ${path}`));
  return [...Object.keys(COLLECTORS), ...Object.keys(REASONS)].filter((name) => !known.has(name));
}

/** The families of the catalogue that an operation feeds, by the catalogue's own sources. */
function familiesOf({ method, path }: Endpoint): readonly string[] {
  const wanted = path.startsWith('/telemetry/') ? (path.split('/').at(-1) ?? '') : `${method} ${path}`;
  const isFrom = (source: string) => (source.split(': ')[0] ?? '').split(', ').includes(wanted);
  return catalog.filter(({ source }) => source.some(isFrom)).map(({ name }) => name);
}

/** docs/coverage.md, whole. */
export function coveragePage(): string {
  return `# Coverage of the services

<!-- Generated from the catalogue and test/support/coverage.ts by \`npm run docs\`; do not edit. -->

Every read operation of the two services: the collector that polls it and the metrics that it feeds, or the reason why it is
not polled. Collectors are chosen with \`PORTAL_COLLECTORS\`; the file acceleration service has one
operation and one collector, \`gfa\`, and the \`inventory\` of the portal is always polled. Operations of tokens are not
listed: the exporter signs in with \`POST /auth/token\`, renews its token with \`POST /auth/token/refresh\` (and signs in
again only if that fails, and once a day), and revokes the token with \`DELETE /auth/token\`. All other operations of the
services change something, and are never requested ([security](security.md)).

## The published interfaces

${table(published)}
## What the vendor's later definition adds

${table(beyond)}`;
}

function table(endpoints: readonly Endpoint[]): string {
  const rows = coverage(endpoints).map(({ endpoint, collectors, families, reason }) => {
    const operation = `\`${endpoint.method} ${endpoint.path}\``;
    const by = collectors.length === 0 ? 'not exported' : collectors.map((name) => `\`${name}\``).join(', ');
    const what = reason ?? families.map((name) => `[\`${name}\`](metrics.md#${name})`).join(', ');
    return `| ${operation} | ${by} | ${what} |`;
  });
  return `| operation | collector | metrics, or the reason |\n|---|---|---|\n${rows.join('\n')}\n`;
}

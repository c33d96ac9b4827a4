import { catalog } from '../../src/catalog.ts';
import { beyond, type Endpoint, isOfToken, onlyReads, published } from './endpoints.ts';

/*
 * docs/coverage.md: how each operation is handled that only reads. The operations come from the fixtures, the families
 * from the catalogue, and what is decided here is which collector asks. `npm run docs` writes the rows of those; the page
 * itself says why an operation is not polled. test/coverage.test.ts compares both.
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

/** How one operation is handled. */
export interface Covered {
  readonly endpoint: Endpoint;
  /** Empty for one that is not exported. */
  readonly collectors: readonly string[];
  readonly families: readonly string[];
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
      };
    });
}

/** The names of decisions that are about no operation that there is. */
export function strayDecisions(): readonly string[] {
  const known = new Set([...published, ...beyond].map(({ method, path }) => `${method} ${path}`));
  return Object.keys(COLLECTORS).filter((name) => !known.has(name));
}

/** The families of the catalogue that an operation feeds, by the catalogue's own sources. */
function familiesOf({ method, path }: Endpoint): readonly string[] {
  const wanted = path.startsWith('/telemetry/') ? (path.split('/').at(-1) ?? '') : `${method} ${path}`;
  const isFrom = (source: string) => (source.split(': ')[0] ?? '').split(', ').includes(wanted);
  return catalog.filter(({ source }) => source.some(isFrom)).map(({ name }) => name);
}

/** A row of docs/coverage.md. */
export interface CoverageRow {
  /** Method and path. */
  readonly operation: string;
  /** The metrics, or the reason why it is not polled. */
  readonly what: string;
}

const ROW = /^\| `([A-Z]+ [^`]+)` \| [^|]* \| (.*) \|$/gm;

/** The rows of docs/coverage.md, in its order. */
export function rowsOf(page: string): readonly CoverageRow[] {
  return [...page.matchAll(ROW)].map(([, operation = '', what = '']) => ({ operation, what }));
}

/** docs/coverage.md with the collectors and metrics of this moment; the reasons stay. */
export function coveragePage(page: string): string {
  const covered = new Map(
    coverage([...published, ...beyond]).map((one) => [`${one.endpoint.method} ${one.endpoint.path}`, one]),
  );
  return page.replaceAll(ROW, (_, operation: string, what: string) => {
    const { collectors = [], families = [] } = covered.get(operation) ?? {};
    const metrics = families.map((name) => `[\`${name}\`](metrics.md#${name})`).join(', ');
    const by = collectors.map((name) => `\`${name}\``).join(', ');
    return `| \`${operation}\` | ${by || 'not exported'} | ${metrics || what} |`;
  });
}

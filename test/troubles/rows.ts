import type { MockServices, Variations } from '../../src/demo/mock-services.ts';

/** A trouble of a site. */
export interface Trouble {
  readonly id: string;
  /** What is wrong, in an operator's words. */
  readonly what: string;
  /** Makes it so: the same for the daemon and for the doctor. */
  readonly begin?: (services: MockServices) => void;
  readonly variations?: Partial<Variations>;
  /** Another exporter polls the file acceleration service from then on, with a client key of its own. */
  readonly hasAnother?: true;
}

const first = ({ fleet }: MockServices) => fleet.appliances[0]?.serial ?? '';
const failing =
  (status: number, scope: object = {}) =>
  (services: MockServices) => {
    services.fail({ kind: 'status', status, ...scope });
  };
const list = (operation: RegExp, items: readonly unknown[]) => (services: MockServices) => {
  services.fail({ kind: 'body', body: JSON.stringify({ items }), operation });
};

/** In the order of the page. */
export const troubles: readonly Trouble[] = [
  {
    id: 'appliance-fails',
    what: 'one appliance: every request about it returns 500',
    begin: (services) => failing(500, { serial: first(services) })(services),
  },
  {
    id: 'appliance-throttled',
    what: 'one appliance: requests about it return 429, those about the others do not',
    begin: (services) => {
      services.fail({ kind: 'status', status: 429, headers: { 'retry-after': '5' }, serial: first(services) });
    },
  },
  {
    id: 'appliance-off',
    what: 'one appliance is off: the portal has no records of it',
    begin: (services) => {
      services.fail({ kind: 'body', body: JSON.stringify({ items: [] }), serial: first(services) });
    },
  },
  {
    id: 'telemetry-forbidden',
    what: 'all telemetry returns 403: the licence or the right is missing',
    variations: { opsIqPremium: false },
  },
  {
    id: 'edges-forbidden',
    what: 'the list of edges returns 403',
    begin: failing(403, { operation: 'edges' }),
  },
  {
    id: 'inventory-empty',
    what: 'the fleet becomes empty, or the role sees nothing: every list of appliances is empty',
    begin: list(/^(?:serials|edges)$/, []),
  },
  {
    id: 'serials-empty',
    what: 'the list of serials is empty, and that of edges is not',
    begin: list(/^serials$/, []),
  },
  {
    id: 'serials-fail',
    what: 'the list of serials returns 500, and that of edges does not',
    begin: failing(500, { operation: 'serials' }),
  },
  {
    id: 'portal-down',
    what: 'the portal returns 503 to everything',
    begin: failing(503, { operation: /^(?!data$)/ }),
  },
  {
    id: 'portal-credentials',
    what: 'the portal rejects the credentials',
    begin: failing(401, { operation: /^(?!data$)/ }),
  },
  {
    id: 'token-fails',
    what: 'the token at hand is rejected, and the request for another returns 503',
    begin: (services) => {
      failing(503, { operation: 'token' })(services);
      failing(401, { operation: /^(?!data$)/ })(services);
    },
  },
  {
    id: 'token-throttled',
    what: 'the token at hand is rejected, and the request for another returns 429',
    begin: (services) => {
      failing(429, { operation: 'token' })(services);
      failing(401, { operation: /^(?!data$)/ })(services);
    },
  },
  {
    id: 'account-shared',
    what: 'data comes late: other tools use the limit of the account, which has one request in 15 s left',
    variations: { rateLimit: { kind: 'fixed-window', requests: 1, windowMs: 15_000 } },
  },
  {
    id: 'account-throttled',
    what: 'the account is throttled: the portal returns 429 without Retry-After',
    begin: failing(429, { operation: /^(?!data$)/ }),
  },
  {
    id: 'acceleration-down',
    what: 'the file acceleration service returns 500',
    begin: failing(500, { operation: 'data' }),
  },
  {
    id: 'acceleration-token',
    what: 'the file acceleration service rejects the token',
    begin: failing(401, { operation: 'data' }),
  },
  {
    id: 'acceleration-without-volumes',
    what: 'the file acceleration service knows no volume of the account (406)',
    begin: failing(406, { operation: 'data' }),
  },
  {
    id: 'client-key-header',
    what: 'the file acceleration service does not know the client key header, and another exporter polls it',
    variations: { clientKeyHeader: 'X-Other-client-key' },
    hasAnother: true,
  },
  {
    id: 'clock',
    what: 'the clock of this machine is ten minutes behind',
    variations: { clockAheadMs: 600_000 },
  },
  {
    id: 'series-fails',
    what: 'one series of all appliances returns 500',
    begin: failing(500, { operation: 'cpu_utilization' }),
  },
];

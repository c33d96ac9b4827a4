import type { StandIn, Variations } from '../../src/demo/stand-in.ts';

/** A trouble of a site. */
export interface Trouble {
  readonly id: string;
  /** What is wrong, in an operator's words. */
  readonly what: string;
  /** Makes it so: the same for the daemon and for the doctor. */
  readonly begin?: (services: StandIn) => void;
  readonly variations?: Partial<Variations>;
}

const first = ({ fleet }: StandIn) => fleet.appliances[0]?.serial ?? '';
const failing =
  (status: number, scope: object = {}) =>
  (services: StandIn) => {
    services.fail({ kind: 'status', status, ...scope });
  };
const list = (operation: RegExp, items: readonly unknown[]) => (services: StandIn) => {
  services.fail({ kind: 'body', body: JSON.stringify({ items }), operation });
};

/** In the order of the page. */
export const troubles: readonly Trouble[] = [
  {
    id: 'appliance-fails',
    what: 'one appliance: every request about it is answered 500',
    begin: (services) => failing(500, { serial: first(services) })(services),
  },
  {
    id: 'appliance-throttled',
    what: 'one appliance: every request about it is answered 429, the others are not',
    begin: (services) => {
      services.fail({ kind: 'status', status: 429, headers: { 'retry-after': '5' }, serial: first(services) });
    },
  },
  {
    id: 'telemetry-forbidden',
    what: 'all telemetry is answered 403: the licence or the right is missing',
    variations: { opsIqPremium: false },
  },
  {
    id: 'edges-forbidden',
    what: 'the list of edges is answered 403',
    begin: failing(403, { operation: 'edges' }),
  },
  {
    id: 'inventory-empty',
    what: 'the inventory is empty: the role sees nothing',
    begin: list(/^(?:serials|edges)$/, []),
  },
  {
    id: 'serials-empty',
    what: 'the list of serials is empty, and that of edges is not',
    begin: list(/^serials$/, []),
  },
  {
    id: 'portal-down',
    what: 'the portal answers 503 to everything',
    begin: failing(503, { operation: /^(?!data$)/ }),
  },
  {
    id: 'portal-credentials',
    what: 'the portal rejects the credentials',
    begin: failing(401, { operation: /^(?!data$)/ }),
  },
  {
    id: 'account-throttled',
    what: 'the account is throttled: the portal answers 429 without Retry-After',
    begin: failing(429, { operation: /^(?!data$)/ }),
  },
  {
    id: 'acceleration-down',
    what: 'the file acceleration service answers 500',
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
    id: 'series-fails',
    what: 'one series of all appliances is answered 500',
    begin: failing(500, { operation: 'cpu_utilization' }),
  },
];

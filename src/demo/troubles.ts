import activityJson from './responses/activity.json' with { type: 'json' };
import type { SimulatedServices } from './services.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, rfc3339 } from './values.ts';

/** One thing that goes wrong in the demo. */
interface Trouble {
  /** In a sentence, for the notice at the top of the pages. */
  readonly shows: string;
  readonly begin: (services: SimulatedServices) => void;
}

/** The demo begins the first one, and with `--trouble` all of them. */
export const troubles: readonly [Trouble, ...Trouble[]] = [
  {
    shows: '`edge-denver` is off: the portal has no records of it, and it does not check in',
    begin: ({ fleet }) => fleet.change('edge-denver', { offSince: fleet.startedAt - 6 * HOUR_MS }),
  },
  {
    shows: '`edge-lima` does not check in, although the portal has its records',
    begin: ({ fleet }) => fleet.change('edge-lima', { silentSince: fleet.startedAt - MINUTE_MS }),
  },
  {
    shows: 'the portal returns 500 for every series of `edge-perth`',
    begin: (services) => {
      const perth = services.fleet.appliances.find(({ name }) => name === 'edge-perth');
      services.fail({ path: new RegExp(`^/telemetry/appliances/${perth?.serial}/`), status: 500 });
    },
  },
  {
    shows: 'the cache of `edge-leeds` fills up over hours',
    begin: ({ fleet }) => fleet.change('edge-leeds', { isFilling: true }),
  },
  {
    shows: 'the volume `archive` takes hours to protect its data, and some of its snapshots fail',
    begin: ({ fleet }) => fleet.changeVolume('archive', { isSlow: true }),
  },
  {
    shows: 'some jobs fail, and some do not end',
    begin: (services) => services.set({ jobsFail: true }),
  },
  {
    shows: 'a cloud credential has not reached `edge-lyon`',
    begin: (services) => {
      services.edit(/^\/cloud-credentials/, (body) => {
        const { items, ...page } = body as { readonly items: readonly object[] };
        const [first, ...others] = items;
        return { ...page, items: [{ ...first, status: 'failed', error: activityJson.deploymentError }, ...others] };
      });
    },
  },
  {
    shows: 'the licence ends in five days',
    begin: (services) => {
      const end = rfc3339(services.fleet.startedAt + 5 * DAY_MS);
      services.edit(/^\/account\/license/, (body) => ({ ...(body as object), subscription_expiration: end }));
    },
  },
  {
    shows: 'the role may not read users and keys: the portal returns 403 for `/iam`',
    begin: (services) => services.fail({ path: /^\/iam\//, status: 403 }),
  },
  {
    shows: 'the account allows half of the requests that the fleet takes, so data is late',
    // With fewer requests data would be so late that the other failures could not be seen.
    begin: (services) => {
      const burst = { requests: 250, windowMs: 30_000 };
      services.set({ limits: { burst, daily: 10_000_000, retryAfter: 'seconds' } });
    },
  },
];

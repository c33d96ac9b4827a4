import type { MockServices } from '../../src/demo/mock-services.ts';
import type { Random } from '../../src/runtime/random.ts';

/** How many appliances there may be: fewer and nobody comes, more and nobody goes. */
const FLEET = { least: 20, most: 40 };

/** What happens to a fleet, each of it as likely as any other; what it returns takes it back. */
const changes: Readonly<Record<string, (mocks: MockServices, random: Random) => (() => void) | undefined>> = {
  'an appliance comes': (mocks) => {
    if (mocks.fleet.appliances.length < FLEET.most) mocks.addAppliance();
    return undefined;
  },
  'an appliance goes': (mocks, random) => {
    const { appliances } = mocks.fleet;
    if (appliances.length > FLEET.least) mocks.removeAppliance(anyOf(appliances, random)?.serial ?? '');
    return undefined;
  },
  'an appliance is renamed': (mocks, random) => {
    const serial = anyOf(mocks.fleet.appliances, random)?.serial ?? '';
    mocks.renameAppliance(serial, `edge-${Math.floor(random() * 1e6)}`);
    return undefined;
  },
  'a volume is renamed': (mocks, random) => {
    const guid = anyOf(mocks.fleet.volumes, random)?.guid ?? '';
    mocks.renameVolume(guid, `volume "${Math.floor(random() * 1e6)}" \\ ü`);
    return undefined;
  },
  'tokens live longer or shorter': (mocks, random) => {
    mocks.vary({ tokenLifetimeMs: 60_000 + Math.floor(random() * 900_000) });
    return undefined;
  },
  'the limit changes': (mocks, random) => {
    // From well below what the fleet takes to the limit of a whole account.
    const requests = Math.round(10 * 50 ** random());
    mocks.vary({
      rateLimit: { kind: random() < 0.5 ? 'sliding-window' : 'fixed-window', requests, windowMs: 30_000 },
    });
    return undefined;
  },
  'the limit is as told': (mocks) => {
    mocks.vary({ rateLimit: { kind: 'sliding-window', requests: 500, windowMs: 30_000 } });
    return undefined;
  },
  'some answers are bad': (mocks, random) => {
    const kinds = ['reset', 'cut', 'hang', 'hang-body'] as const;
    const kind = anyOf(kinds, random) ?? 'reset';
    return mocks.fail({ kind, times: 1 + Math.floor(random() * 40) });
  },
  'some requests are refused': (mocks, random) => {
    const status = anyOf([400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504], random) ?? 500;
    return mocks.fail({ kind: 'status', status, times: 1 + Math.floor(random() * 40) });
  },
};

/** Lets one thing happen; what is wrong with answers is taken back by what it returns. */
export function churn(mocks: MockServices, random: Random): () => void {
  const name = anyOf(Object.keys(changes), random) ?? '';
  return changes[name]?.(mocks, random) ?? (() => {});
}

/** One of a list, by chance; undefined of an empty one. */
export function anyOf<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items[Math.floor(random() * items.length)];
}

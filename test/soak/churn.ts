import type { MockServices } from '../../src/demo/mock-services.ts';
import type { Random } from '../../src/runtime/random.ts';

/** How many appliances there may be: fewer and nobody comes, more and nobody goes. */
const FLEET = { least: 20, most: 40 };

/** What happens to a fleet, each of it as likely as any other; what it returns takes it back. */
const changes: Readonly<Record<string, (standIn: MockServices, random: Random) => (() => void) | undefined>> = {
  'an appliance comes': (standIn) => {
    if (standIn.fleet.appliances.length < FLEET.most) standIn.addAppliance();
    return undefined;
  },
  'an appliance goes': (standIn, random) => {
    const { appliances } = standIn.fleet;
    if (appliances.length > FLEET.least) standIn.removeAppliance(anyOf(appliances, random)?.serial ?? '');
    return undefined;
  },
  'an appliance is renamed': (standIn, random) => {
    const serial = anyOf(standIn.fleet.appliances, random)?.serial ?? '';
    standIn.renameAppliance(serial, `edge-${Math.floor(random() * 1e6)}`);
    return undefined;
  },
  'a volume is renamed': (standIn, random) => {
    const guid = anyOf(standIn.fleet.volumes, random)?.guid ?? '';
    standIn.renameVolume(guid, `volume "${Math.floor(random() * 1e6)}" \\ ü`);
    return undefined;
  },
  'tokens live longer or shorter': (standIn, random) => {
    standIn.vary({ tokenLifetimeMs: 60_000 + Math.floor(random() * 900_000) });
    return undefined;
  },
  'the limit changes': (standIn, random) => {
    // From well below what the fleet takes to the limit of a whole account.
    const requests = Math.round(10 * 50 ** random());
    standIn.vary({
      rateLimit: { kind: random() < 0.5 ? 'sliding-window' : 'fixed-window', requests, windowMs: 30_000 },
    });
    return undefined;
  },
  'the limit is as told': (standIn) => {
    standIn.vary({ rateLimit: { kind: 'sliding-window', requests: 500, windowMs: 30_000 } });
    return undefined;
  },
  'some answers are bad': (standIn, random) => {
    const kinds = ['reset', 'cut', 'hang', 'hang-body'] as const;
    const kind = anyOf(kinds, random) ?? 'reset';
    return standIn.fail({ kind, times: 1 + Math.floor(random() * 40) });
  },
  'some requests are refused': (standIn, random) => {
    const status = anyOf([400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 504], random) ?? 500;
    return standIn.fail({ kind: 'status', status, times: 1 + Math.floor(random() * 40) });
  },
};

/** Lets one thing happen; what is wrong with answers is taken back by what it returns. */
export function churn(standIn: MockServices, random: Random): () => void {
  const name = anyOf(Object.keys(changes), random) ?? '';
  return changes[name]?.(standIn, random) ?? (() => {});
}

/** One of a list, by chance; undefined of an empty one. */
export function anyOf<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items[Math.floor(random() * items.length)];
}

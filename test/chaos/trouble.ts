import type { FaultEffect } from '../../src/demo/faults.ts';
import type { StandIn } from '../../src/demo/stand-in.ts';
import type { Random } from '../../src/runtime/random.ts';
import type { Disk } from './disk.ts';

/** Something that goes wrong for a while. */
export interface Trouble {
  readonly name: string;
  /** Whom it concerns: all of one service, some appliances only; or what no appliance may feel, the account or the state file. */
  readonly touches: 'gfa' | 'portal' | 'account' | 'disk' | { readonly serials: readonly string[] };
  /** How long after its end it may still be felt, beside the two intervals that everything may take, in milliseconds. */
  readonly echoMs: number;
}

const BODIES = [
  '',
  'null',
  '[]',
  '{}',
  '42',
  '{"items":{}}',
  '{"items":[null,{}]}',
  '<html>',
  '{"items":[',
  '{"__proto__":{}}',
];
const STATUSES = [301, 400, 401, 403, 404, 406, 408, 413, 422, 500, 502, 503, 504];
const RETRY_AFTER = ['1', '60', 'soon', '-1', '0', '300'];

/**
 * A trouble drawn by chance: an answer spoiled in one of many ways, for an operation, an appliance or a whole service; or
 * a disk that takes nothing.
 */
export function troubleOf(
  random: Random,
  standIn: StandIn,
  disk: Disk,
): Trouble & { readonly begin: () => () => void } {
  if (random() < 0.1) return { name: 'a full disk', touches: 'disk', echoMs: 0, begin: () => disk.fill() };
  const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  const effect = effectOf(random, one);
  const { serial } = one(standIn.fleet.appliances);
  const half = standIn.fleet.appliances.map((appliance) => appliance.serial).filter((_, index) => index % 2 === 0);
  const scope = one([
    { operation: 'data', touches: 'gfa' },
    { operation: /^(?!data$)/, touches: 'portal' },
    { operation: /^(?:serials|edges)$/, touches: 'portal' },
    { operation: /^(?:token|refresh)$/, touches: 'portal' },
    { operation: 'refresh', touches: 'portal' },
    { operation: /^(?:cpu_utilization|load_average)$/, touches: 'portal' },
    { operation: /^(?:volume_connections|account|license|account_ai_activate)$/, touches: 'account' },
    { serials: half, touches: { serials: half } },
    { serials: [serial], touches: { serials: [serial] } },
    { serials: [serial], operation: 'cpu_utilization', touches: { serials: [serial] } },
  ] as const);
  const isRefusal = effect.kind === 'status' && effect.status === 429;
  const { touches, operation, serials = [undefined] }: Concerned = scope;
  return {
    name: `${describe(effect)} of ${operation ?? 'all'}, ${serials[0] === undefined ? 'everywhere' : serials.join(' ')}`,
    // A refusal holds up everything, for the time that it says or a part of the time that it has lasted.
    touches: isRefusal && touches !== 'gfa' ? 'portal' : touches,
    echoMs: isRefusal ? 1_200_000 : 0,
    begin: () => {
      const lifts = serials.map((one) =>
        standIn.fail({ ...effect, ...(operation && { operation }), ...(one !== undefined && { serial: one }) }),
      );
      return () => {
        for (const lift of lifts) lift();
      };
    },
  };
}

/** What a trouble is about: operations, all unless told, and appliances, everything unless told. */
interface Concerned extends Pick<Trouble, 'touches'> {
  readonly operation?: string | RegExp;
  readonly serials?: readonly (string | undefined)[];
}

function effectOf(random: Random, one: <Item>(items: readonly Item[]) => Item): FaultEffect {
  if (random() < 0.1) {
    const told = one(RETRY_AFTER);
    return { kind: 'status', status: 429, headers: random() < 0.3 ? {} : { 'retry-after': told } };
  }
  const kind = one(['status', 'status', 'body', 'body', 'reset', 'cut', 'hang', 'hang-body', 'drip'] as const);
  if (kind === 'status') return { kind, status: one(STATUSES) };
  return kind === 'body' ? { kind, body: one(BODIES) } : { kind };
}

function describe(effect: FaultEffect): string {
  if (effect.kind === 'status') return `${effect.status} ${JSON.stringify(effect.headers ?? {})}`;
  return effect.kind === 'body' ? `the body ${String(effect.body)}` : effect.kind;
}

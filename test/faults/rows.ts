import type { Spoil } from '../support/front.ts';
import { type Effect, effects, redirects, shape, spoilt, unusable } from './effects.ts';
import type { Instance, Reach, Setup } from './instance.ts';
import { type Expected, LINES, type Lines, type OperationName, type Row } from './row.ts';

/** A row with what it runs on. */
export interface Placed {
  readonly row: Row;
  readonly setup: Setup;
}

/** What one operation's rows have in common. */
interface Place {
  readonly setup: Setup;
  /** What the log says when it fails. */
  readonly lines: Lines | undefined;
  /** Back within so many seconds: two intervals. */
  readonly withinSeconds: number;
}

const QUICK: Setup = { reach: 'address', portalSeconds: 1, tokenSeconds: 900 };
/** Refused credentials are left alone for five seconds, and a portal that is down is asked every few: two intervals of four are longer. */
const SLOW: Setup = { ...QUICK, portalSeconds: 4 };

const places: Readonly<Record<OperationName, Place>> = {
  token: { setup: SLOW, lines: LINES.api, withinSeconds: 8 },
  // A new pair every four seconds. When that fails, credentials or the token at hand do as well, and nobody notices.
  refresh: { setup: { ...QUICK, tokenSeconds: 5 }, lines: undefined, withinSeconds: 2 },
  serials: { setup: QUICK, lines: LINES.task, withinSeconds: 2 },
  edges: { setup: QUICK, lines: LINES.edges, withinSeconds: 2 },
  data: { setup: QUICK, lines: LINES.api, withinSeconds: 2 },
  series: { setup: QUICK, lines: LINES.task, withinSeconds: 2 },
};

/** So long a 429 holds everything at most here, in seconds. */
const HELD_SECONDS = 2;

/** Every row of an operation. `elsewhere`: where redirects lead. */
export function rowsOf(operation: OperationName, elsewhere: () => string): readonly Placed[] {
  const { setup } = places[operation];
  const all = [...effects, ...redirects(elsewhere), ...shapes[operation]];
  const spoiled = all.map((effect): Placed => ({ row: rowOf(operation, effect), setup }));
  return [...spoiled, ...absences.map((absence) => placedAbsence(operation, absence))];
}

function rowOf(operation: OperationName, effect: Effect): Row {
  const times = effect.kind === 'held' ? { times: 1 } : {};
  const expected = expectedOf(operation, effect);
  return { operation, fault: effect.name, expected, ...times, spoil: () => effect.spoil };
}

function expectedOf(operation: OperationName, { kind, code, dropped }: Effect): Expected {
  const { lines, withinSeconds } = places[operation];
  const touchesAll = operation === 'token' || kind === 'held';
  const neighbours = touchesAll ? 'the other service' : 'all';
  const counted = { code, ...(dropped === undefined ? {} : { dropped }), neighbours } as const;
  if (kind === 'harmless') return { ...counted, lines: undefined, withinSeconds };
  if (kind === 'held') {
    // A series or a list is asked again once the hold is over, and so it has not failed. A token and `/data` are not.
    const fails = operation === 'token' || operation === 'data';
    return { ...counted, lines: fails ? lines : undefined, withinSeconds: withinSeconds + HELD_SECONDS };
  }
  // What the service says of a right, a licence, an appliance or the request is no failure: it rests.
  const rests = operation === 'series' ? RESTS[code] : undefined;
  // A missing right or licence is worth a line; that an appliance lacks a series is not.
  const restLines = code === '403' ? LINES.refused : undefined;
  if (rests !== undefined) return { ...counted, resting: rests, lines: restLines, withinSeconds };
  const isForbidden = code === '403' && (operation === 'serials' || operation === 'edges');
  return { ...counted, lines: isForbidden ? LINES.list : lines, withinSeconds };
}

const RESTS: Readonly<Record<string, string>> = { 403: 'forbidden', 404: 'not_found', 422: 'rejected' };

/** JSON that is of another shape at some level, and of the right shape with nothing to use in it. */
const shapes: Readonly<Record<OperationName, readonly Effect[]>> = {
  token: tokenShapes(),
  refresh: tokenShapes(),
  serials: listShapes('id'),
  edges: listShapes('serial'),
  data: [
    shape('nothing in the object', '{}'),
    shape('info is a list', '{"info":[],"metrics":[]}'),
    shape('metrics are a number', '{"info":{},"metrics":7}'),
    shape('metrics hold a number', '{"info":{},"metrics":[{},7]}'),
    ...['filers', 'volumes', 'locks', 'propagation'].map((group) =>
      shape(`${group} are no list`, `{"info":{},"metrics":[{"${group}":{}}]}`),
    ),
    unusable('records that are none', 'record', () => '{"info":{},"metrics":[{"filers":[null,7],"locks":["x",[]]}]}'),
  ],
  series: [
    shape('nothing in the object', '{}'),
    shape('items are an object', '{"items":{}}'),
    shape('items are null', '{"items":null}'),
    shape('items are a text', '{"items":"none"}'),
    unusable('records that are none', 'record', () => '{"items":[null,7,"x",[],{}]}'),
    unusable('a time that is none', 'record', () => '{"items":[{"time":{},"cpu_usage":"1"},{"time":"soon"}]}'),
    unusable('a value that is an object', 'invalid', () => `{"items":[{"time":${Date.now()},"cpu_usage":{}}]}`),
    unusable('a value that is null', 'absent', () => `{"items":[{"time":${Date.now()},"cpu_usage":null}]}`),
    unusable('a value as deep as it is long', 'invalid', () => {
      const deep = '['.repeat(50_000) + ']'.repeat(50_000);
      return `{"items":[{"time":${Date.now()},"cpu_usage":${deep}}]}`;
    }),
  ],
};

function tokenShapes(): readonly Effect[] {
  return [
    shape('nothing in the object', '{}'),
    shape('the token is a number', '{"access_token":7,"expires_in":60}'),
    shape('the token is empty', '{"access_token":"","expires_in":60}'),
    shape('the token is an object', '{"access_token":{"a":"b"}}'),
    shape('the token has line breaks', '{"access_token":"a\\r\\nx-evil: 1","expires_in":900}'),
    spoilt('a lifetime that is a text', (answer) => ({ ...answer, expires_in: 'for ever' })),
    spoilt('a refresh token that is a list', (answer) => ({ ...answer, refresh_token: ['x'] })),
  ];
}

function listShapes(key: string): readonly Effect[] {
  return [
    shape('items are an object', '{"items":{}}'),
    shape('items are a text', '{"items":"none"}'),
    shape('records that are none', '{"items":[null,7,"x",[]]}'),
    shape('records without a serial', `{"items":[{"${key}":7},{"${key}":null},{}]}`),
    {
      ...spoilt('one record that is none', (answer) => {
        const items = Array.isArray(answer.items) ? (answer.items as readonly unknown[]) : [];
        return { ...answer, items: items.length === 0 ? [] : [null, ...items] };
      }),
      dropped: 'record',
    },
  ];
}

/** A whole service that is away from the moment on that the operation is asked for. */
interface AbsenceRow {
  readonly name: string;
  readonly reach: Reach;
  readonly spoil: (instance: Instance) => Spoil;
}

const absences: readonly AbsenceRow[] = [
  { name: 'connections refused', reach: 'address', spoil: () => (_, front) => front.vanish({ kind: 'refuses' }) },
  { name: 'no TLS behind https', reach: 'tls', spoil: () => (_, front) => front.vanish({ kind: 'babbles' }) },
  {
    name: 'a certificate of an unknown issuer',
    reach: 'tls',
    spoil: (instance) => (_, front) => front.vanish(instance.absence('issuer')),
  },
  {
    name: 'a certificate for another name',
    reach: 'tls',
    spoil: (instance) => (_, front) => front.vanish(instance.absence('name')),
  },
  ...['ENOTFOUND', 'EAI_AGAIN'].map(
    (code): AbsenceRow => ({
      name: `a name that cannot be resolved (${code})`,
      reach: 'name',
      spoil: (instance) => (_, front) => {
        instance.resolve(code);
        front.hangUp();
      },
    }),
  ),
];

function placedAbsence(operation: OperationName, { name, reach, spoil }: AbsenceRow): Placed {
  const tokenSeconds = places[operation].setup.tokenSeconds;
  const setup = { ...SLOW, reach, tokenSeconds };
  const expected: Expected = {
    code: 'network',
    lines: LINES.api,
    mayAlsoSay: operation === 'data' ? [] : [LINES.task, LINES.appliance, LINES.edges],
    neighbours: 'the other service',
    withinSeconds: operation === 'data' ? 2 : 8,
  };
  const lift = async (instance: Instance) => {
    instance.resolve('');
    await (operation === 'data' ? instance.gfa : instance.portal).restore();
  };
  return { setup, row: { operation, fault: name, expected, times: 1, spoil, lift } };
}

import { absences } from './absences.ts';
import { type Effect, effects, redirects } from './effects.ts';
import type { Setup } from './instance.ts';
import { HANGING_SECONDS, LASTING_SECONDS, type Placed, places, QUICK } from './places.ts';
import { type Expected, LINES, type OperationName, type Row } from './row.ts';
import { wholes } from './wholes.ts';

/** One of each kind of trouble that lasts. */
const LASTING: ReadonlySet<string> = new Set([
  ...['a reset before the answer', 'no answer to the request', 'a page in HTML', 'fifty megabytes, announced'],
  ...['401', '403', '503', '429 with seconds in Retry-After'],
]);

/** So long a 429 holds everything at most here, in seconds. */
const HELD_SECONDS = 2;

/**
 * The rows of an operation, those together that run on the same: of troubles that last, or of those that end as soon as
 * they have shown. `elsewhere`: where redirects lead.
 */
export function rowsOf(operation: OperationName, isLasting: boolean, elsewhere: () => string): readonly Placed[] {
  const all = [...effects, ...redirects(elsewhere)];
  const placed = [...all.map((effect) => placedEffect(operation, effect)), ...absences(operation)];
  if (operation === 'series') placed.push(...wholes);
  const chosen = placed.filter((one) => isLong(one) === isLasting);
  // The longest first: nobody is to wait for one of them at the end. But behind those that others can be played after.
  const groups = groupsOf(chosen).map((group) =>
    group.toSorted((a, b) => Number(a.isHeld === true) - Number(b.isHeld === true) || secondsOf(b) - secondsOf(a)),
  );
  return groups.toSorted(([a], [b]) => secondsOf(b) - secondsOf(a)).flat();
}

/** What rows run on, each once, with about how many seconds its rows take in all. */
export function setupsOf(rows: readonly Placed[]): readonly { readonly setup: Setup; readonly seconds: number }[] {
  return groupsOf(rows).flatMap((group) => {
    const seconds = group.reduce((sum, placed) => sum + secondsOf(placed), 0);
    return group.slice(0, 1).map(({ setup }) => ({ setup, seconds }));
  });
}

/** Rows by what they run on. */
function groupsOf(rows: readonly Placed[]): readonly (readonly Placed[])[] {
  const keys = new Set(rows.map(keyOf));
  return [...keys].map((key) => rows.filter((placed) => keyOf(placed) === key));
}

/** What lasts for many intervals, or is found out only when nobody has answered for several. */
function isLong({ row, isSilent }: Placed): boolean {
  return row.lastsSeconds !== undefined || isSilent === true;
}

function keyOf({ setup }: Placed): string {
  return JSON.stringify(setup);
}

/** About how many seconds a row takes. */
function secondsOf(placed: Placed | undefined): number {
  if (placed === undefined) return 0;
  const { setup, row } = placed;
  const hanging = row.expected.code === 'timeout' ? 2 * setup.timeoutSeconds : 0;
  return Math.max(setup.portalSeconds + hanging, row.lastsSeconds ?? 0) + row.expected.withinSeconds;
}

function placedEffect(operation: OperationName, effect: Effect): Placed {
  const isLasting = LASTING.has(effect.name);
  const place = places[operation];
  const setup = {
    // What rests after a refusal, or is asked seldom while it is down, is so for several intervals anyway where it lasts.
    ...(isLasting && operation === 'token' ? QUICK : place.setup),
  };
  const expected = isLasting ? lastingOf(operation, effect) : expectedOf(operation, effect);
  const row: Row = {
    operation,
    fault: effect.name,
    expected,
    spoil: () => effect.spoil,
    ...(effect.kind === 'held' && !isLasting ? { times: 1 } : {}),
    ...(isLasting ? { lastsSeconds: LASTING_SECONDS } : {}),
  };
  return { setup, row, isHeld: effect.kind === 'held' };
}

function expectedOf(operation: OperationName, effect: Effect): Expected {
  const { kind, code, breaksConnection } = effect;
  const { lines, speakers = 1, withinSeconds, because } = places[operation];
  const touchesAll = operation === 'token' || kind === 'held';
  const neighbours: Expected['neighbours'] = touchesAll ? 'the other service' : 'all';
  const counted = {
    code,
    neighbours,
    withinSeconds,
    speakers,
    ...(because === undefined ? {} : { because }),
    ...(breaksConnection ? { alsoCodes: ['network'] } : {}),
  };
  if (kind === 'harmless') return { ...counted, isUsed: true, lines: undefined };
  if (kind === 'held') {
    // What is asked of the portal is asked again once the hold is over, and one poll of `/data` is no outage.
    const held = { withinSeconds: withinSeconds + HELD_SECONDS, because: 'nothing is sent for 2 s' };
    return { ...counted, ...held, lines: undefined };
  }
  // What the service says of a right, a licence, an appliance or the request is no failure: it rests.
  const rests = operation === 'series' ? RESTS[code] : undefined;
  // A missing right or licence is worth a line; that an appliance lacks a series is not.
  const restLines = code === '403' ? LINES.refused : undefined;
  if (rests !== undefined) return { ...counted, resting: rests, lines: restLines };
  const own = { ...counted, lines };
  if (code !== 'timeout') return own;
  const hanging = { withinSeconds: withinSeconds + HANGING_SECONDS, because: 'a request under way still hangs' };
  return { ...own, ...hanging };
}

const RESTS: Readonly<Record<string, string>> = { 403: 'forbidden', 404: 'not_found', 422: 'rejected' };

/** What lasts is told once as well, and where something has been put off by then it is back when that is over. */
function lastingOf(operation: OperationName, effect: Effect): Expected {
  const { kind, code } = effect;
  const expected = expectedOf(operation, effect);
  if (kind === 'held') {
    const mayAlsoSay = { serials: [LINES.list], edges: [LINES.list], series: [LINES.task] } as const;
    const further = operation === 'token' || operation === 'data' ? [] : mayAlsoSay[operation];
    const because = 'nothing is sent for 2 s, and the pace is what was taken meanwhile';
    // What is asked of the portal waits and has not failed; polls of `/data` fail until it is down.
    const lines = operation === 'data' ? places.data.lines : undefined;
    return { ...expected, lines, mayAlsoSay: further, withinSeconds: 12, because };
  }
  if (operation !== 'token') return expected;
  if (code === '401' || code === '403') {
    const because = 'credentials that were refused twice rest for 10 s, and a probe comes up to 2 s later';
    return { ...expected, withinSeconds: 10, because };
  }
  const withinSeconds = 10 + (code === 'timeout' ? HANGING_SECONDS : 0);
  return {
    ...expected,
    withinSeconds,
    because: 'a portal that is down is asked after 2, 4 and 8 s, or a quarter more',
  };
}

import type { Spoil } from '../support/front.ts';
import type { Instance, Reach, Setup } from './instance.ts';
import { LASTING_SECONDS, type Placed, places, QUICK, SLOW } from './places.ts';
import { type Expected, LINES, type OperationName } from './row.ts';

/** A whole service that is away from the moment on that the operation is asked for. */
interface AbsenceRow {
  readonly name: string;
  readonly reach: Reach;
  /** Whether it is only found out by waiting. */
  readonly isSilent?: boolean;
  readonly lastsSeconds?: number;
  /** What the log says is the matter. */
  readonly says: string;
  readonly spoil: (instance: Instance) => Spoil;
}

/** REQUEST_TIMEOUT where nobody answers, in seconds: several intervals, so that whoever is held up is missed. */
const SILENCE_SECONDS = 4;

/** A connection that is not made is tried for so long, in seconds. */
const CONNECTING_SECONDS = 10;

const rows: readonly AbsenceRow[] = [
  {
    name: 'connections refused',
    reach: 'address',
    says: 'ECONNREFUSED',
    lastsSeconds: LASTING_SECONDS,
    spoil: () => (_, front) => front.vanish({ kind: 'refuses' }),
  },
  {
    name: 'connections neither taken nor refused',
    reach: 'address',
    says: 'within 4000 ms',
    isSilent: true,
    spoil: () => (_, front) => front.vanish({ kind: 'deaf' }),
  },
  {
    name: 'no TLS behind https',
    reach: 'tls',
    says: 'does not speak TLS',
    spoil: () => (_, front) => front.vanish({ kind: 'babbles' }),
  },
  {
    name: 'a TLS handshake that does not go on',
    reach: 'tls',
    says: 'within 4000 ms',
    isSilent: true,
    spoil: () => (_, front) => front.vanish({ kind: 'mute' }),
  },
  {
    name: 'a certificate of an unknown issuer',
    reach: 'tls',
    says: 'is self-signed',
    spoil: (instance) => (_, front) => front.vanish(instance.absence('issuer')),
  },
  {
    name: 'a certificate for another name',
    reach: 'tls',
    says: 'is for another host name',
    spoil: (instance) => (_, front) => front.vanish(instance.absence('name')),
  },
  {
    name: 'a certificate that has expired',
    reach: 'tls',
    says: 'has expired',
    spoil: (instance) => (_, front) => front.vanish(instance.absence('expired')),
  },
  ...['ENOTFOUND', 'EAI_AGAIN'].map(
    (code): AbsenceRow => ({
      name: `a name that cannot be resolved (${code})`,
      reach: 'name',
      says: code,
      spoil: (instance) => (_, front) => {
        instance.unresolve(front, code);
        front.hangUp();
      },
    }),
  ),
];

/** The rows of a whole service that goes away when an operation of it is asked for. */
export function absences(operation: OperationName): readonly Placed[] {
  return rows.map((row) => placedAbsence(operation, row));
}

function placedAbsence(operation: OperationName, row: AbsenceRow): Placed {
  const { name, reach, isSilent, lastsSeconds, says, spoil } = row;
  const { tokenSeconds } = places[operation].setup;
  const isSlow = operation !== 'data' && lastsSeconds === undefined && !isSilent;
  const setup: Setup = {
    ...(isSlow ? SLOW : QUICK),
    reach,
    tokenSeconds,
    ...(isSilent ? { timeoutSeconds: SILENCE_SECONDS } : {}),
  };
  const expected: Expected = {
    code: isSilent ? 'timeout' : 'network',
    alsoCodes: isSilent ? ['network'] : [],
    lines: LINES.api,
    // Without a token nothing works: there the one request that the connection ended with is reason enough.
    ...(operation === 'token' ? {} : { says }),
    mayAlsoSay: operation === 'data' ? [] : [LINES.task, LINES.appliance, LINES.list],
    neighbours: 'the other service',
    ...patienceOf(operation, row),
  };
  const lift = async (instance: Instance) => {
    instance.resolve();
    await (operation === 'data' ? instance.gfa : instance.portal).restore();
  };
  const lasts = lastsSeconds === undefined ? {} : { lastsSeconds };
  return {
    setup,
    row: { operation, fault: name, expected, times: 1, ...lasts, spoil, lift },
    isSilent: isSilent === true,
  };
}

function patienceOf(operation: OperationName, row: AbsenceRow): Pick<Expected, 'withinSeconds' | 'because'> {
  if (row.isSilent) {
    return {
      withinSeconds: CONNECTING_SECONDS + SILENCE_SECONDS,
      because: 'a connection is tried for 10 s, and requests may wait for it until they time out',
    };
  }
  if (operation === 'data') return { withinSeconds: 2 };
  if (row.lastsSeconds === undefined) return { withinSeconds: 8 };
  return {
    withinSeconds: 12,
    because: 'a portal that is down is asked after 2, 4 and 8 s, or a quarter more, thrice each',
  };
}

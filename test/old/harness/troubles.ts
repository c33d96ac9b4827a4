/** What of the services is in trouble: what fits all that is said. */
export interface Scope {
  readonly operation?: string | RegExp;
  readonly serial?: string;
  readonly path?: RegExp;
}

/** One thing that the exporter asks for. */
export interface Place {
  readonly operation: string;
  readonly serial?: string;
  readonly path: string;
  /** Another path that serves as well. */
  readonly or?: string;
}

interface Trouble {
  readonly scope: Scope;
  endedAt: number;
  readonly echoMs: number;
}

/** What is wrong with the services and since when it is not any more; monotonic milliseconds. */
export class Troubles {
  readonly #all: Trouble[] = [];

  /** Something is wrong until what it returns is called; it may be felt for `echoMs` more. */
  begin(scope: Scope, echoMs: number): (now: number) => void {
    const trouble: Trouble = { scope, echoMs, endedAt: Number.POSITIVE_INFINITY };
    this.#all.push(trouble);
    return (now) => {
      trouble.endedAt = Math.min(trouble.endedAt, now);
    };
  }

  /** Whether nothing that concerns a place has been wrong for so long. */
  isQuiet(place: Place, forMs: number, now: number): boolean {
    return this.#all.every(
      ({ scope, endedAt, echoMs }) => now - endedAt > Math.max(forMs, echoMs) || !concerns(scope, place),
    );
  }
}

function concerns({ operation, serial, path }: Scope, place: Place): boolean {
  if (path !== undefined) return path.test(place.path);
  if (serial !== undefined && serial !== place.serial) return false;
  if (operation === undefined) return true;
  // Without a token nothing is answered.
  const names = place.operation === 'data' ? ['data'] : [place.operation, 'token'];
  return names.some((name) => (typeof operation === 'string' ? name === operation : operation.test(name)));
}

/** A series of an appliance, as it is asked for. */
export function seriesPlace(serial: string, operation: string): Place {
  return { operation, serial, path: `/portal/telemetry/appliances/${serial}/${operation}` };
}

/** The list of appliances. */
export const INVENTORY: Place = { operation: 'serials', path: '/portal/serials' };

/** What the file acceleration service tells. */
export const DATA: Place = { operation: 'data', path: '/gfa/v1/data' };

/** What the account has bought. */
export const LICENCE: Place = { operation: 'license', path: '/portal/account/license' };

/** Signing in, or renewing the token. */
export const TOKEN: Place = {
  operation: 'token',
  path: '/portal/auth/token',
  or: '/portal/auth/token/refresh',
};

/** What of the portal's requests is rejected, whichever they are. */
export const LIMITS: Place = { operation: 'limits', path: '/portal/limits' };

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Why a request is rejected, and the response. */
export interface Rejection {
  readonly status: 401 | 403 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export type AccessDecision = 'allowed' | Rejection;

/** Protects the pages: TLS, and who may read them. */
export interface AccessControl {
  readonly headers: Readonly<Record<string, string>>;
  /** Passes an accepted connection to `ready` once it is encrypted, or at once if the rules require no TLS, or closes it. */
  secure(accepted: Socket, ready: (secured: Socket) => void): void;
  /** Decides on a request that arrived on `secured`. May take a while; never rejects. */
  decide(request: IncomingMessage, path: string, secured: Socket): Promise<AccessDecision> | AccessDecision;
}

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** The response to a request that is rejected. */
export interface Rejection {
  readonly status: 401 | 403 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

export type AccessDecision = 'allowed' | Rejection;

/** Protects the pages with TLS and decides who may read them. */
export interface AccessControl {
  readonly headers: Readonly<Record<string, string>>;
  /** Passes an accepted connection to `ready` once it is encrypted, or at once if the rules require no TLS, or closes it. */
  secure(accepted: Socket, ready: (secured: Socket) => void): void;
  /** Decides on a request that arrived on `secured`. It may take a while, and never rejects. */
  decide(request: IncomingMessage, path: string, secured: Socket): Promise<AccessDecision> | AccessDecision;
}

import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Why a request is rejected, and the answer. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 417 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The decision on a request. `let in`: it has fulfilled the rules, or there are none. `open`: its path is exempt from them. */
export type Admission = 'let in' | 'open' | Refusal;

/** Guards the pages: TLS, and who is admitted. */
export interface Front {
  /** Changes with the rules: a connection from before a change gets one more answer. */
  readonly generation: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Sets the handlers of secured connections and of changed rules. Called once, before the first connection. */
  serve(ready: (secured: Socket) => void, changed: () => void): void;
  /** Takes a new connection: passes it on once it is secured, or at once if it is plain, or closes it. */
  accept(socket: Socket): void;
  /** Decides on a request. May take a while; never rejects. */
  admit(request: IncomingMessage, path: string): Promise<Admission> | Admission;
}

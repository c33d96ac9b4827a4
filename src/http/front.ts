import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Why a request is not answered, and with what instead. */
export interface Refusal {
  readonly status: 401 | 403 | 429 | 503;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/**
 * What becomes of a request. `let in` is one that the rules ask nothing of or that has what they ask for; `open` is one
 * that is answered without it.
 */
export type Admission =
  | { readonly state: 'let in' | 'open' }
  | { readonly state: 'refused'; readonly refusal: Refusal };

/** What stands between the network and the pages: how connections are secured, and who may ask. */
export interface Front {
  /** Changes whenever the rules do: a connection of earlier rules is good for one more answer. */
  readonly generation: number;
  /** Added to every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** Says where connections go once they are secured, and who hears of other rules. Called once, before the first of them. */
  serve(ready: (secured: Socket) => void, changed: () => void): void;
  /** Takes a new connection: hands it on once it is secured, or at once where it is to be plain; or ends it. */
  accept(socket: Socket): void;
  /** Decides on a request. May take a while; never rejects. */
  admit(request: IncomingMessage, path: string): Promise<Admission> | Admission;
}

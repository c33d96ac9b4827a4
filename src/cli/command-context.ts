import type { ReadText } from '../runtime/small-files.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/** Where a command writes. */
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** What a command takes from its process. */
export interface CommandContext {
  readonly variables: Variables;
  /** Reads `.env` and the files that variables name. */
  readonly readFile: ReadText;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Resolves on the first signal. */
  readonly stopped: Promise<void>;
}

export function abortOn(stopped: Promise<void>): AbortSignal {
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  return stopping.signal;
}

import type { Dispatcher } from 'undici';
import { after, type Clock } from '../runtime/clock.ts';

/** An answer to a POST, its body shortened. */
export interface PostAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The log shows a rejection in one line; the rest of the body is dropped. */
const MOST_TEXT = 2_000;

/** Sends a body once. Rejects if no complete answer arrives in time. */
export async function post(
  dispatcher: Dispatcher,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  { clock, timeoutMs, signal }: { readonly clock: Clock; readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<PostAnswer> {
  const { origin, pathname, search } = new URL(url);
  const late = new AbortController();
  const inTime = after(clock, timeoutMs, () => late.abort(new Error(`no answer within ${timeoutMs / 1000} s`)));
  try {
    const answer = await dispatcher.request({
      ...{ origin, path: `${pathname}${search}`, method: 'POST', headers, body },
      signal: AbortSignal.any([signal, late.signal]),
    });
    const text = await limited(answer.body);
    const named = Object.entries(answer.headers).map(([name, value]) => [name, String(value ?? '')]);
    return { status: answer.statusCode, headers: Object.fromEntries(named), text };
  } finally {
    inTime();
  }
}

async function limited(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += Buffer.from(chunk).toString('utf8');
    if (text.length > MOST_TEXT) break;
  }
  return text.slice(0, MOST_TEXT);
}

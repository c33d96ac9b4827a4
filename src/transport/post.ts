import { Agent, type Dispatcher, errors, ProxyAgent } from 'undici';
import type { Clock } from '../runtime/clock.ts';
import type { Proxy as HttpProxy } from './dispatcher.ts';

/** Further trusted certificate authorities, and the program's own certificate; all in PEM. */
export interface TlsFiles {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** An answer to a POST, its body shortened. */
export interface PostAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The log shows a rejection in one line; the rest of the body is dropped. */
const MOST_TEXT = 2_000;

/** The connections to one receiver. */
export function createPostDispatcher(tls: TlsFiles, proxy: HttpProxy | undefined): Dispatcher {
  const checked = { timeout: 10_000, rejectUnauthorized: true, ...tls } as const;
  const options = { connections: 1, pipelining: 1, keepAliveTimeout: 30_000, connect: checked };
  if (proxy === undefined) return new Agent(options);
  return new ProxyAgent({
    ...options,
    uri: proxy.url,
    ...(proxy.authorization === undefined ? {} : { token: proxy.authorization.reveal() }),
    requestTls: checked,
    proxyTls: { timeout: 10_000, rejectUnauthorized: true },
    proxyTunnel: false,
  });
}

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
  const ended = new AbortController();
  void clock
    .sleep(timeoutMs, ended.signal)
    .then(() => late.abort(new errors.HeadersTimeoutError(`no answer within ${timeoutMs / 1000} s`)));
  try {
    const answer = await dispatcher.request({
      ...{ origin, path: `${pathname}${search}`, method: 'POST', headers, body },
      signal: AbortSignal.any([signal, late.signal]),
    });
    const text = await limited(answer.body);
    const named = Object.entries(answer.headers).map(([name, value]) => [name, String(value ?? '')]);
    return { status: answer.statusCode, headers: Object.fromEntries(named), text };
  } finally {
    ended.abort();
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

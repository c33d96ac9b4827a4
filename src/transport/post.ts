import type { Dispatcher } from 'undici';
import { callAfter } from '../runtime/clock.ts';
import { connectionError } from './connection-errors.ts';
import { type SendingOptions, sendOnce } from './send-once.ts';

export interface PostResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The remaining body is dropped, because the log shows only the first line of a rejection. */
const MAX_CHARACTERS = 64 * 1024;

/** Rejects with a RequestError if there is no response. */
export async function post(
  dispatcher: Dispatcher,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  limits: Pick<SendingOptions, 'clock' | 'timeoutMs' | 'signal'>,
): Promise<PostResponse> {
  const { origin, pathname, search } = new URL(url);
  const request = { origin, path: `${pathname}${search}`, method: 'POST', headers, body } as const;
  const read = (response: Dispatcher.ResponseData) => readResponse(response, limits);
  const requestName = `POST ${pathname}`;
  try {
    return await sendOnce(request, read, { ...limits, dispatcher, requestName });
  } catch (thrown) {
    throw connectionError(requestName, thrown);
  }
}

async function readResponse(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { clock, timeoutMs }: Pick<SendingOptions, 'clock' | 'timeoutMs'>,
): Promise<PostResponse> {
  if (statusCode >= 200 && statusCode < 300) {
    // The request is accepted even if the rest of the response is cut or never arrives.
    const cancel = callAfter(clock, timeoutMs, () => body.destroy());
    void body
      .dump()
      .catch(() => {})
      .finally(cancel);
    return { status: statusCode, headers: {}, text: '' };
  }
  let text = '';
  for await (const chunk of body as AsyncIterable<Buffer>) {
    text += chunk.toString('utf8');
    if (text.length > MAX_CHARACTERS) break;
  }
  const named = Object.entries(headers).map(([name, value]) => [name, String(value ?? '')]);
  return { status: statusCode, headers: Object.fromEntries(named), text: text.slice(0, MAX_CHARACTERS) };
}

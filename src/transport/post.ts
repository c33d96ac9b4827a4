import type { Dispatcher } from 'undici';
import { type AttemptDependencies, sendOnce } from './attempt.ts';

export interface PostResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The remaining body is dropped, because the log shows only the first line of a rejection. */
const MAX_CHARACTERS = 64 * 1024;

export function post(
  dispatcher: Dispatcher,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
  limits: Pick<AttemptDependencies, 'clock' | 'timeoutMs' | 'signal'>,
): Promise<PostResponse> {
  const { origin, pathname, search } = new URL(url);
  const request = { origin, path: `${pathname}${search}`, method: 'POST', headers, body } as const;
  return sendOnce(request, readResponse, { ...limits, dispatcher, requestName: `POST ${pathname}` });
}

async function readResponse({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<PostResponse> {
  if (statusCode >= 200 && statusCode < 300) {
    // The request is accepted even if reading the body fails.
    body.dump().catch(() => {});
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

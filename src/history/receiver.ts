import { compress } from 'snappyjs';
import type { Labels } from '../metrics/family.ts';
import { asError } from '../runtime/errors.ts';
import type { PostAnswer } from '../transport/post.ts';
import { retryAfterMs } from '../transport/retry-after.ts';
import { type SeriesPoints, writeRequest } from './write-request.ts';

export interface Trouble {
  readonly afterMs: number | undefined;
  readonly text: string;
}

/**
 * The result of a request. `later`: the same points are sent again. `refused`: the receiver will never accept it. `code`:
 * the status, or `network`.
 */
export type Delivery = { readonly code: string } & (
  | { readonly state: 'taken' }
  | { readonly state: 'refused'; readonly reason: PointRefusal; readonly text: string }
  | ({ readonly state: 'later' } & Trouble)
);

/** Why a receiver rejects a point; part of the label `reason`. */
export type PointRefusal = 'out_of_order' | 'too_old' | 'too_large' | 'rejected';

export type Send = (headers: Labels, body: Uint8Array, signal: AbortSignal) => Promise<PostAnswer>;

const HEADERS = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
} as const;

/** `now`: in epoch milliseconds. Never rejects. */
export async function deliver(
  send: Send,
  series: readonly SeriesPoints[],
  now: () => number,
  signal: AbortSignal,
): Promise<Delivery> {
  let answer: PostAnswer;
  try {
    answer = await send(HEADERS, compress(writeRequest(series)), signal);
  } catch (error) {
    return { code: 'network', state: 'later', afterMs: undefined, text: asError(error).message };
  }
  const { status, headers, text } = answer;
  const code = String(status);
  if (status >= 200 && status < 300) return { code, state: 'taken' };
  const told = text.trim().split('\n')[0]?.slice(0, 300) ?? '';
  const said = `${status}${told === '' ? '' : `: ${told}`}`;
  // The operator has to correct a wrong password or path; until then nothing is lost.
  const isOurs = status === 401 || status === 403 || status === 404 || status === 405;
  // Prometheus 2.42 with an out-of-order window answers 500 to a point that is older.
  const isForGood = status === 500 && TOO_OLD.test(text);
  if (isForGood || (status >= 400 && status < 500 && status !== 429 && !isOurs))
    return { code, state: 'refused', reason: refusalOf(status, text), text: said };
  return { code, state: 'later', afterMs: retryAfterMs(headers['retry-after'], headers.date, now()), text: said };
}

const TOO_OLD = /too[ -]old|out of bounds|out-of-bounds/i;

function refusalOf(status: number, text: string): PointRefusal {
  if (status === 413) return 'too_large';
  // Mimir and Cortex say `err-mimir-sample-out-of-order` and `err-mimir-sample-timestamp-too-old`.
  if (TOO_OLD.test(text)) return 'too_old';
  return /out[ -]of[ -]order|duplicate sample/i.test(text) ? 'out_of_order' : 'rejected';
}

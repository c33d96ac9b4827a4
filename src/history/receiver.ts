import { compress } from 'snappyjs';
import type { Labels } from '../metrics/family.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { PostAnswer } from '../transport/post.ts';
import { retryAfterMs } from '../transport/retry-after.ts';
import { encode, type ProtocolVersion, type SeriesPoints } from './write-request.ts';

/**
 * The result of a request. `later`: the same points are sent again. `refused`: the receiver will never accept this
 * request. `partly` (2.0 only): it accepted all but some points, which it will never accept.
 */
export type Delivery =
  | { readonly state: 'taken' }
  | { readonly state: 'partly'; readonly refused: number; readonly reason: PointRefusal; readonly text: string }
  | { readonly state: 'refused'; readonly reason: PointRefusal; readonly text: string }
  | { readonly state: 'later'; readonly afterMs: number | undefined; readonly text: string };

/** Why a receiver rejects a point; part of the label `reason`. */
export type PointRefusal = 'out_of_order' | 'too_old' | 'too_large' | 'rejected';

export type Send = (headers: Labels, body: Uint8Array, signal: AbortSignal) => Promise<PostAnswer>;

const HEADERS = {
  '1.0': {
    'content-type': 'application/x-protobuf',
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '0.1.0',
  },
  '2.0': {
    'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': '2.0.0',
  },
} as const satisfies Record<ProtocolVersion, Labels>;

/** How many points a receiver of 2.0 has written; a receiver without this header did not understand the request. */
const WRITTEN = 'x-prometheus-remote-write-samples-written';

/** One receiver, with the protocol version that it understands. */
export class Receiver {
  readonly #send: Send;
  readonly #clock: Clock;
  readonly #onAnswer: (code: string) => void;
  #version: ProtocolVersion = '2.0';

  /** `onAnswer` gets the status of every answer, or `network`. */
  constructor(send: Send, clock: Clock, onAnswer: (code: string) => void) {
    this.#send = send;
    this.#clock = clock;
    this.#onAnswer = onAnswer;
  }

  /**
   * Sends points. The first request uses 2.0. A receiver that rejects it, or accepts it without the number of written
   * points, gets 1.0 from then on, including this request: a receiver that only knows 1.0 may read an empty request and
   * answer 204. The same applies if an older receiver replaces it later.
   */
  async deliver(series: readonly SeriesPoints[], signal: AbortSignal): Promise<Delivery> {
    let answer: PostAnswer;
    try {
      answer = await this.#send(HEADERS[this.#version], compress(encode(this.#version, series)), signal);
    } catch (error) {
      this.#onAnswer('network');
      return { state: 'later', afterMs: undefined, text: asError(error).message };
    }
    this.#onAnswer(String(answer.status));
    const isTaken = answer.status >= 200 && answer.status < 300;
    const written = this.#version === '2.0' ? Number(answer.headers[WRITTEN] ?? Number.NaN) : undefined;
    const isMute = written !== undefined && Number.isNaN(written) && (isTaken || [400, 415].includes(answer.status));
    if (isMute) {
      this.#version = '1.0';
      return this.deliver(series, signal);
    }
    if (isTaken) return { state: 'taken' };
    return this.#failed(answer, series, written);
  }

  #failed({ status, headers, text }: PostAnswer, series: readonly SeriesPoints[], written = Number.NaN): Delivery {
    const told = text.trim().split('\n')[0]?.slice(0, 300) ?? '';
    const said = `${status}${told === '' ? '' : `: ${told}`}`;
    // The operator has to correct a wrong password or path; until then nothing is lost.
    const isOurs = status === 401 || status === 403 || status === 404 || status === 405;
    // Prometheus 2.42 with an out-of-order window answers 500 to a point that is older.
    const isForGood = status === 500 && TOO_OLD.test(text);
    if (!isForGood && (status === 429 || status >= 500 || status < 400 || isOurs)) {
      const afterMs = retryAfterMs(headers['retry-after'], headers.date, this.#clock.now());
      return { state: 'later', afterMs, text: said };
    }
    const reason = refusalOf(status, text);
    if (Number.isNaN(written)) return { state: 'refused', reason, text: said };
    const sent = series.reduce((sum, { times }) => sum + times.length, 0);
    const refused = sent - Math.min(sent, Math.max(0, written));
    // Nothing of it was accepted, and nothing says that its points are the reason.
    if (refused === sent && reason === 'rejected') return { state: 'refused', reason, text: said };
    return { state: 'partly', refused, reason, text: said };
  }
}

const TOO_OLD = /too[ -]old|out of bounds|out-of-bounds/i;

function refusalOf(status: number, text: string): PointRefusal {
  if (status === 413) return 'too_large';
  // Mimir and Cortex say `err-mimir-sample-out-of-order` and `err-mimir-sample-timestamp-too-old`.
  if (TOO_OLD.test(text)) return 'too_old';
  return /out[ -]of[ -]order|duplicate sample/i.test(text) ? 'out_of_order' : 'rejected';
}

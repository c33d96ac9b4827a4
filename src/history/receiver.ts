import { compress } from 'snappyjs';
import type { Labels } from '../metrics/family.ts';
import type { Clock } from '../runtime/clock.ts';
import { asError } from '../runtime/errors.ts';
import type { PostAnswer } from '../transport/post.ts';
import { retryAfterMs } from '../transport/retry-after.ts';
import { encode, type ProtocolVersion, type SeriesPoints } from './write-request.ts';

/**
 * What became of a request. `later`: nothing is lost, the same points are sent again. `refused`: the receiver will never
 * take this request as it is. `partly` (2.0 alone): it took all but some points, which it will never take.
 */
export type Delivery =
  | { readonly state: 'taken' }
  | { readonly state: 'partly'; readonly refused: number; readonly reason: PointRefusal; readonly text: string }
  | { readonly state: 'refused'; readonly reason: PointRefusal; readonly text: string }
  | { readonly state: 'later'; readonly afterMs: number | undefined; readonly text: string };

/** Why a receiver does not take a point; part of the label `reason`. */
export type PointRefusal = 'out_of_order' | 'too_old' | 'too_large' | 'rejected';

/** Sends one body to the receiver. */
export type Send = (headers: Labels, body: Uint8Array, signal: AbortSignal) => Promise<PostAnswer>;

const MEDIA_TYPES = {
  '1.0': 'application/x-protobuf',
  '2.0': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
} as const satisfies Record<ProtocolVersion, string>;

const NUMBERS = { '1.0': '0.1.0', '2.0': '2.0.0' } as const satisfies Record<ProtocolVersion, string>;

/** How many points a receiver of 2.0 says that it wrote; one that does not say so has not understood the request. */
const WRITTEN = 'x-prometheus-remote-write-samples-written';

/** One receiver, and which version of the protocol it understands. */
export class Receiver {
  readonly #send: Send;
  readonly #clock: Clock;
  readonly #onAnswer: (code: string) => void;
  #version: ProtocolVersion = '2.0';

  /** `onAnswer` is told the status of every answer, or `network`. */
  constructor(send: Send, clock: Clock, onAnswer: (code: string) => void) {
    this.#send = send;
    this.#clock = clock;
    this.#onAnswer = onAnswer;
  }

  /**
   * Sends points. The first request is of 2.0; a receiver that refuses or takes one without saying how many points it wrote
   * gets 1.0 from then on, this request among it: one that knows 1.0 alone may read an empty request and answer 204. So
   * does one that was replaced by an older one on the way.
   */
  async deliver(series: readonly SeriesPoints[], signal: AbortSignal): Promise<Delivery> {
    let answer: PostAnswer;
    try {
      answer = await this.#send(headersOf(this.#version), compress(encode(this.#version, series)), signal);
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
    // A wrong password or path is the operator's to mend: until then nothing is lost.
    const isOurs = status === 401 || status === 403 || status === 404 || status === 405;
    // Prometheus 2.42 with an out-of-order window answers 500 to a point that is older than that.
    const isForGood = status === 500 && TOO_OLD.test(text);
    if (!isForGood && (status === 429 || status >= 500 || status < 400 || isOurs)) {
      return {
        state: 'later',
        afterMs: retryAfterMs(headers['retry-after'], headers.date, this.#clock.now()),
        text: said,
      };
    }
    const reason = refusalOf(status, text);
    if (Number.isNaN(written)) return { state: 'refused', reason, text: said };
    const sent = series.reduce((sum, { times }) => sum + times.length, 0);
    return { state: 'partly', refused: Math.max(0, sent - written), reason, text: said };
  }
}

function headersOf(version: ProtocolVersion): Labels {
  return {
    'content-type': MEDIA_TYPES[version],
    'content-encoding': 'snappy',
    'x-prometheus-remote-write-version': NUMBERS[version],
  };
}

const TOO_OLD = /too[ -]old|out of bounds|out-of-bounds/i;

function refusalOf(status: number, text: string): PointRefusal {
  if (status === 413) return 'too_large';
  // Mimir and Cortex say `err-mimir-sample-out-of-order` and `err-mimir-sample-timestamp-too-old`.
  if (TOO_OLD.test(text)) return 'too_old';
  return /out[ -]of[ -]order|duplicate sample/i.test(text) ? 'out_of_order' : 'rejected';
}

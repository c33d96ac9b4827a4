/** Why a receiver rejects a point; part of the label `reason`. */
export type RejectionReason = 'out_of_order' | 'too_old' | 'too_large' | 'rejected';

/**
 * What a response means. `accepted`: everything is stored. `partly`: everything but the points that the response is about.
 * The others store nothing. `retry`: the same request may be accepted later. `order`: a series has newer points. `age`: a
 * point is too old, or dated ahead of the receiver's clock. `size`: the request is too large. `invalid`: one of its series.
 */
export interface ResponseMeaning {
  readonly effect: 'accepted' | 'partly' | 'retry' | 'order' | 'age' | 'size' | 'invalid';
  readonly reason: RejectionReason;
}

interface Row extends ResponseMeaning {
  readonly status: (status: number) => boolean;
  /** A text that only the receiver sends; a proxy may send any other. Missing if any text matches. */
  readonly text?: RegExp;
}

const is =
  (...statuses: readonly number[]) =>
  (status: number) =>
    statuses.includes(status);

/**
 * The first row that fits. Prometheus 2.42 and 3 keep nothing of a request of protocol 1.0 that they reject, and send
 * exactly these texts; with an out-of-order window 2.42 returns 500 for older points. Mimir, Cortex and Thanos (409) keep
 * what is good, as does InfluxDB, and quote one bad point.
 */
const ROWS: readonly Row[] = [
  { status: (status) => status >= 200 && status < 300, effect: 'accepted', reason: 'rejected' },
  {
    status: is(400),
    text: /^(?:out of order sample|duplicate sample for timestamp(?: \d+; overrides not allowed: .*)?)$/,
    effect: 'order',
    reason: 'out_of_order',
  },
  { status: is(400, 500), text: /^too old sample$/, effect: 'age', reason: 'too_old' },
  {
    status: is(400),
    text: /^out of bounds(?:: timestamp is too far in the future)?$/,
    effect: 'age',
    reason: 'too_old',
  },
  {
    status: is(400),
    text: /err-mimir-sample-(?:out-of-order|duplicate-timestamp)/,
    effect: 'partly',
    reason: 'out_of_order',
  },
  {
    status: is(400),
    text: /err-mimir-(?:sample-timestamp-too-old|too-far-in-future)/,
    effect: 'partly',
    reason: 'too_old',
  },
  {
    status: is(400, 409),
    text: /\b(?:out of order sample|sample out of order|duplicate sample for timestamp)\b/i,
    effect: 'partly',
    reason: 'out_of_order',
  },
  { status: is(400), text: /\berr: (?:out of bounds|too old sample)\b/, effect: 'partly', reason: 'too_old' },
  { status: is(409), text: /\bout of bounds\b|\btoo old\b/, effect: 'partly', reason: 'too_old' },
  { status: is(400), text: /\bpartial write\b/, effect: 'partly', reason: 'too_old' },
  { status: is(413), effect: 'size', reason: 'too_large' },
  // The operator has to correct a wrong password or path.
  { status: is(401, 403, 404, 405, 408, 429), effect: 'retry', reason: 'rejected' },
  { status: (status) => status >= 400 && status < 500, effect: 'invalid', reason: 'rejected' },
];

export function meaningOfResponse(status: number, text: string): ResponseMeaning {
  const row = ROWS.find((one) => one.status(status) && (one.text?.test(text) ?? true));
  return row ?? { effect: 'retry', reason: 'rejected' };
}

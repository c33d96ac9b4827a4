import type { Question } from '../../doctor/examination.ts';

export type AnswerByQuestion = Readonly<Record<string, string | undefined>>;

/** What the documentation of the portal leaves open and an account can answer. */
export const portalQuestions: readonly Question[] = [
  {
    question: 'token_lifetime',
    asks: 'How long is a token valid?',
    told: 'by `expires_in`, or by the claims of the token',
    answers: {
      below_10_minutes: 'renewed before it expires',
      up_to_an_hour: 'renewed before it expires',
      up_to_a_day: 'renewed before it expires',
      more_than_a_day: 'renewed after a day',
    },
  },
  {
    question: 'token_lifetime_told_by',
    asks: 'Where is the lifetime of a token?',
    told: 'by the shape of the token answer',
    answers: {
      expires_in: 'read from there',
      jwt: 'read from the claims exp and iat',
      nothing: 'renewed every five minutes, and after a 401',
    },
  },
  {
    question: 'ratio_unit',
    asks: 'Are shares sent as percent or as ratios?',
    told: 'by `utilization` beside `total` and `available` of the same record, or by processors and caches that are never above 1',
    answers: { percent: 'as documented', ratio: 'read as ratio only if PORTAL_UNITS has ratio' },
  },
  {
    question: 'memory_unit',
    asks: 'Is memory sent in KB or in bytes?',
    told: 'by its size: no appliance has 3 TiB, and none has below 1 GB',
    answers: {
      kilobytes: 'as documented, 1024 bytes each',
      bytes: 'a record above 3 TiB is read as bytes, the others only if PORTAL_UNITS has memory_bytes',
    },
  },
  {
    question: 'time_unit',
    asks: 'Are times epoch milliseconds or seconds?',
    told: 'by their size',
    answers: { milliseconds: 'as documented', seconds: 'each time before 2001 is read as seconds' },
  },
  {
    question: 'latency_unit',
    asks: 'Are latencies milliseconds or seconds?',
    told: 'by their median: a disk operation takes more than 20 microseconds and less than 20 seconds',
    answers: { milliseconds: 'as documented', seconds: 'read as seconds only if PORTAL_UNITS has latency_seconds' },
  },
  {
    question: 'load_names',
    asks: 'What are the fields of `load_average` called?',
    told: 'by their names',
    answers: {
      longterm: 'the label window is made of them',
      minutes_in_words: 'the label window is made of them',
      minutes_in_digits: 'the label window is made of them',
      other: 'the label window holds the name of the field',
    },
  },
  {
    question: 'unfit_memory_series',
    asks: 'What is the answer of the memory series that does not exist for the build?',
    told: 'by asking for both',
    answers: {
      empty: 'polled at the discovery interval',
      '404': 'polled at the discovery interval',
      '422': 'polled at the discovery interval',
    },
  },
  {
    question: 'bin_size',
    asks: 'Does `bin_size` always take effect?',
    told: 'by the same half hour in bins of one minute and of five',
    answers: {
      honoured: 'bins have the length in PORTAL_BIN_SIZE',
      ignored: 'bins are one minute; PORTAL_BIN_SIZE has no effect',
    },
  },
  {
    question: 'newest_bin',
    asks: 'Is the newest bin complete?',
    told: 'by its minutes',
    answers: {
      whole: 'the newest bin is shown',
      partial: 'the newest bin is shown; keep PORTAL_BIN_SIZE at 60s',
      null: 'the newest bin with a value is shown',
    },
  },
  {
    question: 'counts',
    asks: 'Are cache requests counted per bin or per second?',
    told: 'by the sum of five minutes beside their bin',
    answers: {
      per_bin: 'as documented: requests in a bin of PORTAL_BIN_SIZE',
      per_second: 'read as a rate only if PORTAL_UNITS has requests_per_second',
    },
  },
  {
    question: 'longest_period',
    asks: 'How long a period does the service accept?',
    told: 'by asking for 30 days, 7 days and a day',
    answers: {
      P30D: 'history reaches back 30 days',
      P7D: 'history reaches back 7 days',
      P1D: 'history reaches back a day',
    },
  },
  {
    question: 'connection_appliance_id',
    asks: 'Is `appliance_id` in `GET /volume_connections` the edge id or the serial?',
    told: 'by looking it up in `GET /edges`',
    answers: { edge_id: 'found by either', serial: 'found by either' },
  },
];

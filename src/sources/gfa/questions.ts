import type { Question } from '../../doctor/examination.ts';

/** What the documentation of `GET /data` leaves open and an account can answer. */
export const gfaQuestions: readonly Question[] = [
  {
    question: 'metrics_shape',
    asks: 'Is `metrics` an array or one object?',
    told: 'by the first answer',
    answers: {
      array: 'read as documented',
      object: 'read as an array of one',
      several_objects: 'their records are merged',
    },
  },
  {
    question: 'delivery',
    asks: 'Does an answer contain only what is new for the client key?',
    told: 'by two calls with one client key, and one with another',
    answers: {
      bookmark: 'each event is counted once',
      bookmark_shared: 'each event is counted once; another client with this token may receive some of them instead',
      overlapping: 'each event is counted once, however often it is delivered',
      window: 'each event is counted once, however often it is delivered',
    },
  },
  {
    question: 'new_key_reach',
    asks: 'How far back does a new client key reach?',
    told: 'by the oldest event of the first answer to a new key',
    answers: {
      minutes: 'counting begins with these events',
      an_hour: 'counting begins with these events',
      a_day: 'counting begins with these events',
      more_than_a_day: 'counting begins with these events; the first answer is large',
    },
  },
  {
    question: 'switched_off_group',
    asks: 'Is a group that the query switches off empty or missing?',
    told: 'by a call without locks and propagation',
    answers: {
      empty: 'read as no new records',
      missing: 'read as no new records',
      ignored: 'its records are read too',
    },
  },
];

import type { Questions } from '../../../doctor/service-check.ts';

/** The properties that the documentation of `GET /data` leaves open and an account shows, each with its alternatives and their effect. */
export const gfaQuestions: Questions = {
  metrics_shape: {
    array: 'read as documented',
    object: 'read as an array of one',
    several_objects: 'their records are merged',
  },
  delivery: {
    bookmark: 'each event is counted once',
    bookmark_shared: 'each event is counted once; another client with this token may receive some of them instead',
    overlapping: 'each event is counted once, however often it is delivered',
    window: 'each event is counted once, however often it is delivered',
  },
  new_key_reach: {
    minutes: 'counting begins with these events',
    an_hour: 'counting begins with these events',
    a_day: 'counting begins with these events',
    more_than_a_day: 'counting begins with these events; the first response is large',
  },
  switched_off_group: {
    empty: 'read as no new records',
    missing: 'read as no new records',
    ignored: 'its records are read too',
  },
};

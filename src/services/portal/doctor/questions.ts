import type { Questions } from '../../../doctor/service-check.ts';

export type VariantAnswers = Readonly<Record<string, string | undefined>>;

/** The properties that the portal's documentation leaves open and an account shows, each with its alternatives and their effect. */
export const portalQuestions: Questions = {
  token_lifetime: {
    below_10_minutes: 'renewed before it expires',
    up_to_an_hour: 'renewed before it expires',
    up_to_a_day: 'renewed before it expires',
    more_than_a_day: 'renewed after a day',
  },
  ratio_unit: { percent: 'as documented', ratio: 'the values are 100 times too small until PORTAL_UNITS has ratio' },
  memory_unit: {
    kilobytes: 'as documented, 1024 bytes each',
    bytes: 'the values are 1024 times too large until PORTAL_UNITS has memory_bytes',
  },
  time_unit: { milliseconds: 'as documented', seconds: 'each time before 2001 is read as seconds' },
  latency_unit: {
    milliseconds: 'as documented',
    seconds: 'the values are 1000 times too small until PORTAL_UNITS has latency_seconds',
  },
  bin_size: {
    honoured: 'bins have the length in PORTAL_BIN_SIZE',
    ignored: 'bins are one minute; PORTAL_BIN_SIZE has no effect',
  },
  newest_bin: {
    whole: 'the newest bin is shown',
    partial: 'the newest bin is shown; keep PORTAL_BIN_SIZE at 60s',
    null: 'the newest bin with a value is shown',
  },
  counts: {
    per_bin: 'as documented: requests in a bin of PORTAL_BIN_SIZE',
    per_second: 'the values are too small until PORTAL_UNITS has requests_per_second',
  },
  longest_period: {
    P30D: 'history reaches back 30 days',
    P7D: 'history reaches back 7 days',
    P1D: 'history reaches back a day',
  },
  connection_appliance_id: { edge_id: 'the appliance is found by it', serial: 'the appliance is found by it' },
};

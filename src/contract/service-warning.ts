import type { FailureReason } from '../runtime/failures.ts';
import type { Explanation } from './causes.ts';

/**
 * Every warning, and what to do about it: one fixed clause for each, without names and numbers, because the advice is also a
 * label of `filer_exporter_warning_info`. What happened to what is in the log and on the status page.
 */
export const WARNING_ADVICE = {
  down: 'read on the status page why the service cannot be polled, and what to do',
  forbidden: 'give the role of the key the missing right, or exclude what it forbids from polling',
  licence: 'request the licence from the owner of the account, or add -telemetry to PORTAL_COLLECTORS',
  inventory:
    'read on the status page which list is missing or empty; the role of the key may have to see all appliances',
  throttled: 'lower the request rate of the other tools of the account, or that of the exporter',
  late_data: 'poll fewer series, set a longer interval, or ask for a higher limit',
  clock_skew: 'set the clock of this machine, for instance by NTP; ages have the same error',
  event_memory: 'give the process more memory',
} as const;

export type WarningCode = keyof typeof WARNING_ADVICE;

/** A condition of a service that an operator should know. It is shown on the status page while it lasts, and logged once. */
export interface ServiceWarning extends Explanation {
  readonly code: WarningCode;
  /** The reason of the failures that it explains, which are not explained again. */
  readonly explains?: FailureReason;
}

/** `skew`: how far the clock of this machine is from that of the service, such as `20 s behind`. */
export function clockSkewWarning(skew: string): ServiceWarning {
  return serviceWarning('clock_skew', `the clock of this machine is ${skew} that of the service`);
}

export function serviceWarning(code: WarningCode, happened: string, explains?: FailureReason): ServiceWarning {
  return { code, happened, advice: WARNING_ADVICE[code], ...(explains === undefined ? {} : { explains }) };
}

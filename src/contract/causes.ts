import { CredentialError, type Problem, RequestError } from '../runtime/errors.ts';
import { type FailureReason, failureReason } from '../runtime/failures.ts';
import type { Task } from './task.ts';

/** What happened, as a clause, and what to do, as an imperative. */
export interface Explanation {
  readonly happened: string;
  readonly advice: string;
}

type CauseName = FailureReason | Problem | 'missing' | 'limited' | 'no_records' | 'overdue';

/** Names and values in explanations. Values are undefined if they are unknown. */
interface Terms {
  /** The variables with the address, with the credentials, and what lowers the request rate, as an imperative. */
  readonly url: string;
  readonly credentials: string;
  readonly rate: string;
  /** How to exclude what failed, as an imperative. */
  readonly without?: string | undefined;
  /** What the service said, or where it redirects to. */
  readonly said?: string | undefined;
}

interface Cause extends Explanation {
  /** What `--doctor` finds out, as a clause. */
  readonly doctor?: string;
}

/** Why data is missing, and what to do about it: the log, the status page with its JSON, and the doctor read it here. */
const CAUSES: Readonly<Record<CauseName, (terms: Terms) => Cause>> = {
  credentials: ({ credentials }) => ({
    happened: 'the service rejected the credentials',
    advice: `check ${credentials}: complete, not revoked, and of this account`,
    doctor: 'whether their form is wrong',
  }),
  forbidden: ({ said, without }) => ({
    happened: `the service accepted the credentials and rejected the request (403)${said === undefined ? '' : `: ${said}`}`,
    advice: `give the role the right, or the account the licence, that the response names${without === undefined ? '' : `, or ${without}`}`,
  }),
  not_found: ({ url }) => ({ happened: 'the address does not exist (404)', advice: `check ${url}` }),
  missing: ({ without }) => ({
    happened: 'the service does not have it (404)',
    advice: `${without === undefined ? '' : `${without}, or `}check in the portal that it is in use`,
  }),
  rejected: ({ url }) => ({
    happened: 'the service rejected the request (4xx)',
    advice: `check ${url}`,
    doctor: 'which requests the service rejects',
  }),
  throttled: ({ rate }) => ({
    happened: 'the service rejected requests because of its limit (429)',
    advice: `lower the request rate of the other tools that use the limits of this account, or ${rate}`,
  }),
  limited: () => ({
    happened: 'the service rejected this request because of a limit (429)',
    advice: 'wait: it is sent again when the time has passed that the service asked for',
  }),
  timeout: () => ({
    happened: 'no complete response arrived in time',
    advice: 'wait; if the service is always so slow, raise REQUEST_TIMEOUT',
  }),
  oversize: () => ({ happened: 'the response was larger than allowed', advice: 'raise MAX_RESPONSE_BYTES' }),
  memory: () => ({
    happened: 'the response was too large for the memory of this process',
    advice: 'give the process more memory',
  }),
  long_list: ({ without = 'set PORTAL_SERIALS to the appliances that it polls' }) => ({
    happened: 'the list was longer than the exporter reads',
    advice: without,
  }),
  server_error: () => ({
    happened: 'the service failed (5xx)',
    advice: 'wait; if it lasts, ask the operator of the service',
  }),
  network: ({ url }) => ({
    happened: 'the service could not be reached',
    advice: `check the firewall, and host and port in ${url}; if this network needs a proxy, set HTTPS_PROXY`,
  }),
  dns: ({ url }) => ({
    happened: 'the host name is unknown',
    advice: `check the name servers of this machine, and the host in ${url}; if this network needs a proxy, set HTTPS_PROXY`,
  }),
  authority: () => ({
    happened: 'the certificate is from an unknown authority, such as that of a proxy',
    advice: 'set NODE_EXTRA_CA_CERTS to the certificate of that authority if it is the one of your network',
  }),
  certificate: ({ url }) => ({
    happened: 'the certificate is not valid for this host and time',
    advice: `check the clock of this machine, and the host in ${url}; if both are right, ask the operator of the service`,
  }),
  tls: ({ url }) => ({
    happened: 'the other side does not speak TLS',
    advice: `check HTTPS_PROXY, and scheme and port of ${url}`,
  }),
  proxy: () => ({
    happened: 'the proxy could not be used',
    advice: 'check HTTPS_PROXY; if the service needs no proxy, name its host in NO_PROXY',
  }),
  proxy_credentials: () => ({
    happened: 'the proxy asked for a user name and a password (407)',
    advice: 'put them into HTTPS_PROXY, as in http://user:password@host:port',
  }),
  page: ({ url }) => ({
    happened: 'a web page came instead of data, as of a login page or a proxy',
    advice: `check ${url}; if it is right, name its host in NO_PROXY, or let the proxy pass it without a login`,
  }),
  redirect: ({ url, said }) => ({
    happened: `the service redirected the request to ${said}`,
    advice: `if the service has moved to ${said}, correct ${url}; if that is a login page, name the host of the service in NO_PROXY`,
  }),
  invalid: ({ url }) => ({
    happened: 'the response was not in the documented format',
    advice: `check ${url}`,
    doctor: 'how the response differs',
  }),
  no_records: () => ({
    happened: 'it is off, or it does not reach the portal',
    advice: 'check in the portal whether it is on and connected',
  }),
  overdue: () => ({ happened: 'no poll has succeeded for some intervals', advice: 'run --doctor' }),
};

/** What differs between services: the names in explanations, and advice of their own. */
export interface ServiceCauses {
  readonly names: Pick<Terms, 'url' | 'credentials' | 'rate' | 'without'>;
  readonly own?: Readonly<Partial<Record<CauseName, Omit<Cause, 'happened'>>>>;
}

export type Explain = (cause: unknown, terms?: Pick<Terms, 'without'>) => Explanation;

/** Explains errors, or causes by their names, in the terms of one service. The doctor does not name itself. */
export function explainFor({ names, own = {} }: ServiceCauses, isDoctor = false): Explain {
  return (cause, terms) => {
    const name = causeOf(cause);
    const said = cause instanceof RequestError ? cause.said : undefined;
    const { happened, advice, doctor } = { ...CAUSES[name]({ ...names, said, ...terms }), ...own[name] };
    const more = doctor === undefined || isDoctor ? '' : `; --doctor finds out ${doctor}`;
    return { happened, advice: `${advice}${more}` };
  };
}

function causeOf(cause: unknown): CauseName {
  if (typeof cause === 'string') return Object.hasOwn(CAUSES, cause) ? (cause as CauseName) : 'overdue';
  const error = cause instanceof CredentialError ? cause.cause : cause;
  return error instanceof RequestError && error.problem !== undefined ? error.problem : failureReason(cause);
}

/** Explains why a task fails although the service responds to others. */
export function explainTask(explain: Explain, { without }: Pick<Task, 'without'>, error: unknown): Explanation {
  const reason = failureReason(error);
  // A 429 may be about one appliance, so what other tools do is advice for the whole service only.
  if (reason === 'throttled') return explain('limited');
  return explain(reason === 'not_found' ? 'missing' : error, { without });
}

export function sentences({ happened, advice }: Explanation): string {
  return `${sentence(happened)} ${sentence(advice)}`;
}

/** Returns a clause as a sentence. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

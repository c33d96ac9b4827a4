import { CredentialError, type Problem, RequestError } from '../runtime/errors.ts';
import type { FailureReason } from '../runtime/failures.ts';
import { failureReason, isForbidden } from '../runtime/failures.ts';
import type { Task } from './task.ts';

/** What happened, as a clause, and what to do, as an imperative. */
export interface Explanation {
  readonly happened: string;
  readonly advice: string;
}

export type CauseName = FailureReason | Problem | 'missing' | 'no_records' | 'overdue' | 'clock';

/**
 * Why data is missing, and what to do about it: the log, the status page with its JSON, and the doctor take both sentences
 * from here. `{url}` and the like are names and values; a part in brackets is left out if one of its values is unknown.
 */
export const CAUSES: Readonly<Record<CauseName, Explanation>> = {
  credentials: {
    happened: 'the service rejects the credentials',
    advice:
      'check {credentials}: complete, not revoked, and of this account[; {doctor} finds out whether their form is wrong]',
  },
  forbidden: {
    happened: 'the service accepts the credentials and rejects the request (403)[: {said}]',
    advice: 'give the role the right, or the account the licence, that the response names[, or set {without}]',
  },
  not_found: { happened: 'the address does not exist (404)', advice: 'check {url}' },
  missing: {
    happened: 'the service does not have it (404)',
    advice: '[set {without}, or ]check in the portal that it is in use',
  },
  rejected: { happened: 'the service rejects the request (4xx)', advice: 'check {url}[, and run {doctor}]' },
  throttled: {
    happened: 'the service rejects requests because of its limit (429)',
    advice: 'lower the request rate of the other tools that use the limits of this account, or {rate}',
  },
  timeout: {
    happened: 'no complete response arrives in time',
    advice: 'wait; if the service is always so slow, raise REQUEST_TIMEOUT',
  },
  oversize: { happened: 'the response is larger than allowed', advice: 'raise MAX_RESPONSE_BYTES' },
  memory: { happened: 'the response needs more memory than there is', advice: 'give the process more memory' },
  long_list: {
    happened: 'the list is longer than the exporter reads',
    advice: 'set PORTAL_SERIALS to the appliances that it polls',
  },
  server_error: {
    happened: 'the service fails (5xx)',
    advice: 'wait; if it lasts, ask the operator of the service and attach a report (--doctor --report FILE)',
  },
  network: {
    happened: 'the service cannot be reached',
    advice: 'check the firewall, and host and port in {url}; if this network needs a proxy, set HTTPS_PROXY',
  },
  dns: {
    happened: 'the host name is unknown',
    advice:
      'check the host in {url} and the name servers of this machine; if this network needs a proxy, set HTTPS_PROXY',
  },
  authority: {
    happened: 'the certificate is from an unknown authority, such as that of a proxy',
    advice: 'set NODE_EXTRA_CA_CERTS to the certificate of that authority if it is the one of your network',
  },
  certificate: {
    happened: 'the certificate is not valid for this host and time',
    advice: 'check the host in {url} and the clock of this machine; if both are right, ask the operator of the service',
  },
  tls: { happened: 'the other side does not speak TLS', advice: 'check scheme and port of {url}, and HTTPS_PROXY' },
  proxy: {
    happened: 'the proxy cannot be used',
    advice: 'check HTTPS_PROXY; if the service needs no proxy, name its host in NO_PROXY',
  },
  proxy_credentials: {
    happened: 'the proxy asks for a user name and a password (407)',
    advice: 'put them into HTTPS_PROXY, as in http://user:password@host:port',
  },
  page: {
    happened: 'a web page or a redirect comes instead of data, as of a login page or a proxy',
    advice: 'check {url}; if it is right, name its host in NO_PROXY, or let the proxy pass it without a login',
  },
  invalid: {
    happened: 'the response is not in the documented format',
    advice: 'check {url}; if it is right, attach a report (--doctor --report FILE) to an issue',
  },
  no_records: {
    happened: 'it is off, or it does not reach the portal',
    advice: 'check in the portal whether it is on and connected',
  },
  overdue: { happened: 'no poll has succeeded for some intervals', advice: 'run --doctor' },
  clock: {
    happened: 'the clock of this machine is {skew} that of the service',
    advice: 'set the clock of this machine, for instance by NTP; ages have the same error',
  },
};

/** What differs between services: what the names stand for, and advice of their own. */
export interface ServiceCauses {
  readonly names: Readonly<Record<'url' | 'credentials' | 'rate', string> & { without?: string }>;
  readonly advice?: Readonly<Partial<Record<CauseName, string>>>;
}

export type Explain = (cause: unknown, values?: Values) => Explanation;

type Values = Readonly<Record<string, string | undefined>>;

/** Explains errors, or causes by their names, in the terms of one service. The doctor does not name itself. */
export function explainFor({ names, advice = {} }: ServiceCauses, isDoctor = false): Explain {
  return (cause, values = {}) => {
    const name = causeOf(cause);
    const said = cause instanceof RequestError ? cause.said : undefined;
    const all = { doctor: isDoctor ? undefined : '--doctor', said, ...names, ...values };
    return { happened: fill(CAUSES[name].happened, all), advice: fill(advice[name] ?? CAUSES[name].advice, all) };
  };
}

function causeOf(cause: unknown): CauseName {
  if (typeof cause === 'string') return Object.hasOwn(CAUSES, cause) ? (cause as CauseName) : 'overdue';
  const error = cause instanceof CredentialError ? cause.cause : cause;
  return error instanceof RequestError && error.problem !== undefined ? error.problem : failureReason(cause);
}

/** Explains why a task fails although the service responds to others. */
export function explainTask(explain: Explain, { without }: Pick<Task, 'without'>, error: unknown): Explanation {
  return explain(failureReason(error) === 'not_found' ? 'missing' : error, { without });
}

/** How many series a sentence names. */
const MAX_NAMED = 5;

/** Collects what is forbidden among tasks, and explains it. */
export class ForbiddenTasks {
  readonly #series = new Set<string>();
  /** The setting that excludes each forbidden series. */
  readonly #settings = new Map<string, string>();
  readonly #appliances = new Set<string>();
  readonly #ofAccount = new Map<string, { readonly task: Task; readonly error: Error }>();
  #error: Error | undefined;

  /** `error`: why the latest poll failed. */
  add(task: Task, error: Error | undefined): void {
    const { operation, appliance, without } = task;
    if (appliance !== undefined) this.#series.add(operation);
    if (error === undefined || !isForbidden(error)) return;
    if (appliance === undefined) {
      // A list of the inventory is explained as a gap.
      if (task.discoversTasks !== true) this.#ofAccount.set(operation, { task, error });
      return;
    }
    this.#settings.set(operation, without ?? '');
    this.#appliances.add(appliance.serial);
    this.#error = error;
  }

  /** Explains all series at once, because one right or licence usually covers several; undefined if none is forbidden. */
  series(explain: Explain): Explanation | undefined {
    const { size } = this.#settings;
    if (this.#error === undefined) return undefined;
    const series = size > MAX_NAMED ? `${size} series` : [...this.#settings.keys()].join(', ');
    const appliances = this.#appliances.size === 1 ? '1 appliance' : `${this.#appliances.size} appliances`;
    const settings = [...this.#settings.values()];
    const without =
      settings.length < this.#series.size ? { without: settings.join(',').replaceAll(/,PORTAL_SERIES=/g, ',') } : {};
    return {
      happened: `requests for ${series} of ${appliances} ${rejection(this.#error)}`,
      advice: explain('forbidden', without).advice,
    };
  }

  /** Explains the series, and each operation of the account. */
  all(explain: Explain): readonly Explanation[] {
    const ofAccount = [...this.#ofAccount].map(([operation, { task, error }]) => ({
      happened: `requests for ${operation} ${rejection(error)}`,
      advice: explainTask(explain, task, error).advice,
    }));
    return [this.series(explain) ?? [], ofAccount].flat();
  }
}

/** Without the request, which names one appliance. */
function rejection({ message }: Error): string {
  return message.replace(/^[A-Z]+ \S+ /, '');
}

export function sentences({ happened, advice }: Explanation): string {
  return `${sentence(happened)} ${sentence(advice)}`;
}

/** Returns a clause as a sentence. */
export function sentence(clause: string): string {
  return `${clause.charAt(0).toUpperCase()}${clause.slice(1)}.`;
}

function fill(text: string, values: Values): string {
  const filled = (part: string) => part.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');
  return filled(
    text.replaceAll(/\[([^\]]*)\]/g, (_, part: string) =>
      [...part.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => values[name] !== undefined) ? part : '',
    ),
  );
}

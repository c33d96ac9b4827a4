import type { ReportFinding } from '../../../doctor/finding.ts';
import { type NamesOfService, outcomeOf, reportAnswers, type ServiceCheck } from '../../../doctor/service-check.ts';
import { asError, CredentialError, httpStatusOf } from '../../../runtime/errors.ts';
import { meaningOf } from '../../../runtime/failures.ts';
import type { DoctorCheckDependencies } from '../../service.ts';
import { withToken } from '../client.ts';
import { PortalCollector } from '../collector.ts';
import type { PortalOptions } from '../context.ts';
import { TokenSource } from '../token.ts';
import { tokenRequest } from '../token-requests.ts';
import { connectionIds, newestRecordMs, portalReadings, volumesIn } from './answers.ts';
import { probeBins } from './bin-probe.ts';
import { explain, reportAppliances, reportInventory, reportOperations, reportUndocumentedSeries } from './findings.ts';
import { MAX_APPLIANCES, MAX_SAMPLED_APPLIANCES, pollOnce } from './polls.ts';
import { reportUnits } from './units.ts';

/** The requests about the token, bins and periods, in addition to those of the collectors. */
const EXTRA_REQUESTS = 10;

/** The most account requests of one collector: `license` and `iam` send three each. */
const MAX_COLLECTOR_REQUESTS = 3;

interface Run extends DoctorCheckDependencies {
  readonly options: PortalOptions;
  readonly tokens: TokenSource;
  readonly reportFinding: ReportFinding;
  readonly signal: AbortSignal;
}

/** Polls every operation of every enabled collector once, and finds out what the documentation leaves open. */
export function createPortalCheck(options: PortalOptions, dependencies: DoctorCheckDependencies): ServiceCheck {
  return {
    requests:
      EXTRA_REQUESTS +
      MAX_COLLECTOR_REQUESTS * options.collectors.length +
      options.series.length +
      2 * MAX_APPLIANCES +
      2 * MAX_SAMPLED_APPLIANCES,
    run: (reportFinding, signal) => {
      const tokens = new TokenSource(dependencies.client, options.credentials, dependencies.environment.clock);
      return runCheck({ ...dependencies, options, tokens, reportFinding, signal });
    },
  };
}

async function runCheck(run: Run): Promise<NamesOfService> {
  const { client, environment, exchanges, options, tokens, reportFinding, signal } = run;
  if (!(await checkCredentials(run))) return { filers: [], volumes: [] };
  const portal = withToken(client, tokens);
  const collector = new PortalCollector(portal, { ...options, readsEarlierBuilds: true }, environment);
  try {
    const sampledSeries = options.series[0]?.name;
    const polls = await pollOnce(collector, sampledSeries, signal);
    reportOperations(polls, collector, exchanges, reportFinding);
    if (sampledSeries !== undefined) {
      reportAppliances(polls, collector.appliances.length, sampledSeries, reportFinding);
      reportFreshness(run);
    }
    reportUndocumentedSeries(exchanges, reportFinding);
    reportInventory(collector.inventory.gaps, exchanges, reportFinding);
    const [appliance] = collector.appliances;
    const { counts, ...bins } = appliance ? await probeBins(portal, appliance.serial, reportFinding, signal) : {};
    reportUnits(options.units, exchanges, counts, reportFinding);
    const answers = { ...bins, connection_appliance_id: connectionIds(exchanges) };
    reportAnswers(portalReadings, answers, reportFinding);
    return {
      filers: collector.appliances.map(({ serial, name }) => ({ id: serial, name })),
      volumes: volumesIn(exchanges),
    };
  } finally {
    await tokens.revoke(signal);
  }
}

/** A newest record that is older than this is late, and one further in the future has a wrong time. In seconds. */
const FRESH_S = { oldest: 3_600, future: 300 } as const;

function reportFreshness({ exchanges, environment: { clock }, reportFinding }: Run): void {
  const check = 'freshness';
  const what = 'the newest record of any appliance';
  const newestMs = newestRecordMs(exchanges);
  if (newestMs === undefined) {
    reportFinding('unknown', check, 'no-record', `${what} could not be checked: no record was received`);
    return;
  }
  const ageSeconds = (clock.now() - newestMs) / 1000;
  const observed = `${what} is ${Math.round(ageSeconds)} s old`;
  if (ageSeconds > FRESH_S.oldest) {
    const advice = 'check in the portal whether the appliances report, and when';
    reportFinding('warning', check, 'old', observed, { expected: 'at most an hour', advice });
  } else if (ageSeconds < -FRESH_S.future) {
    const advice = 'check the clocks of this machine and of the appliances';
    reportFinding('warning', check, 'future', observed, { expected: 'a time in the past', advice });
  } else reportFinding('ok', check, 'fresh', observed);
}

async function checkCredentials(run: Run): Promise<boolean> {
  const { options, tokens, reportFinding, signal } = run;
  const { kind } = options.credentials;
  const { error } = await outcomeOf(tokens.get(signal), signal);
  if (error === undefined) {
    const minutes = Math.round((tokens.remainingSeconds ?? 0) / 6) / 10;
    reportFinding('ok', 'credentials', 'accepted', `accepted as ${kind}; a token lives for ${minutes} min`);
    await checkRefresh(run);
    return true;
  }
  const cause = error instanceof CredentialError ? asError(error.cause) : error;
  const observed = `as ${kind}: ${cause.message}`;
  const { advice } = explain(error);
  if (meaningOf(cause).action !== 'pause') {
    const status = httpStatusOf(cause);
    const code = status === undefined ? 'no-token' : `status-${status}`;
    reportFinding('failure', 'token', code, observed, { expected: 'a token', advice });
    return false;
  }
  const expected = '200 with a token';
  const otherKind = kind === 'oauth2' ? 'service_key' : 'oauth2';
  if (await acceptsOtherForm(run, otherKind)) {
    const otherForm = `set PORTAL_AUTH=${otherKind}: the portal accepts the same credentials in that form`;
    reportFinding('failure', 'credentials', 'other-form', observed, { expected, advice: otherForm });
  } else reportFinding('failure', 'credentials', 'rejected', observed, { expected, advice });
  return false;
}

async function acceptsOtherForm(
  { client, options: { credentials }, signal }: Run,
  kind: 'oauth2' | 'service_key',
): Promise<boolean> {
  if (credentials.kind === 'user_key') return false;
  const { error } = await outcomeOf(client.send(tokenRequest({ ...credentials, kind }), signal), signal);
  return error === undefined;
}

/** Refreshes the token. Whether the portal accepts the new one is shown by the operations that follow. */
async function checkRefresh({ tokens, reportFinding, signal }: Run): Promise<void> {
  const { error } = await outcomeOf(tokens.refresh(signal), signal);
  if (error === undefined) {
    reportFinding('ok', 'token', 'refreshed', 'POST /auth/token/refresh was accepted');
    return;
  }
  const advice = 'nothing has to be done: the exporter signs in again whenever a token expires';
  reportFinding('warning', 'token', `refresh-${httpStatusOf(error) ?? 'failed'}`, error.message, {
    expected: '200 with a new pair of tokens',
    advice,
  });
}

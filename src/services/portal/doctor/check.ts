import type { ReportFinding } from '../../../doctor/finding.ts';
import { freshness } from '../../../doctor/plausible.ts';
import { answersTo, type CheckResult, type ServiceCheck } from '../../../doctor/service-check.ts';
import { asError, CredentialError, httpStatusOf } from '../../../runtime/errors.ts';
import { meaningOf } from '../../../runtime/failures.ts';
import type { DoctorCheckDependencies } from '../../service.ts';
import { PortalClient } from '../client.ts';
import { PortalCollector } from '../collector.ts';
import type { PortalOptions } from '../context.ts';
import { TokenSource } from '../token.ts';
import { tokenRequest } from '../token-requests.ts';
import { connectionIds, newestRecordMs, ratioEvidence, tokenAnswers, volumesIn } from './answers.ts';
import { probeBins } from './bin-probe.ts';
import { explain, reportAppliances, reportInventory, reportOperations, reportUndocumentedSeries } from './findings.ts';
import { MAX_APPLIANCES, MAX_SAMPLED_APPLIANCES, pollOnce } from './polls.ts';
import { portalQuestions, type VariantAnswers } from './questions.ts';
import { unitAnswers } from './unit-evidence.ts';

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
    questions: portalQuestions,
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

async function runCheck(run: Run): Promise<CheckResult> {
  const { client, environment, exchanges, options, tokens, reportFinding, signal } = run;
  if (!(await checkCredentials(run))) return { answers: [], filers: [], volumes: [] };
  const portal = new PortalClient(client, tokens);
  const collector = new PortalCollector(portal, { ...options, readsEarlierBuilds: true }, environment);
  try {
    const [sampledSeries] = options.series;
    const polls = await pollOnce(collector, sampledSeries?.name, signal);
    reportOperations(polls, collector, exchanges, reportFinding);
    if (sampledSeries !== undefined)
      reportAppliances(polls, collector.appliances.length, sampledSeries.name, reportFinding);
    reportUndocumentedSeries(exchanges, reportFinding);
    reportInventory(collector.inventory.gaps, exchanges, reportFinding);
    if (sampledSeries !== undefined) reportFreshness(run);
    const [appliance] = collector.appliances;
    const { counts, ...bins } = appliance ? await probeBins(portal, appliance.serial, reportFinding, signal) : {};
    const answers: VariantAnswers = {
      ...bins,
      ...tokenAnswers(exchanges, environment.clock.now()),
      connection_appliance_id: connectionIds(exchanges),
    };
    const evidence = [...ratioEvidence(exchanges)];
    if (counts !== undefined) evidence.push({ question: 'counts', answer: counts, isProof: true });
    return {
      answers: [...unitAnswers(options.units, exchanges, evidence), ...answersTo(answers)],
      filers: collector.appliances.map(({ serial, name }) => ({ id: serial, name })),
      volumes: volumesIn(exchanges),
    };
  } finally {
    await tokens.revoke(signal);
  }
}

function reportFreshness({ exchanges, environment: { clock }, reportFinding }: Run): void {
  const newestMs = newestRecordMs(exchanges);
  const ageSeconds = newestMs === undefined ? undefined : (clock.now() - newestMs) / 1000;
  const { level, code, observed, ...more } = freshness('the newest record of any appliance', ageSeconds);
  reportFinding(level, 'freshness', code, observed, more);
}

async function checkCredentials(run: Run): Promise<boolean> {
  const { options, tokens, reportFinding, signal } = run;
  const { kind } = options.credentials;
  const check = 'credentials';
  try {
    await tokens.get(signal);
    const secondsLeft = tokens.remainingSeconds;
    const minutes = secondsLeft === undefined ? 'an unknown time' : `${Math.round(secondsLeft / 6) / 10} min`;
    reportFinding('ok', check, 'accepted', `accepted as ${kind}; a token lives for ${minutes}`);
    await checkRefresh(run);
    return true;
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = asError(thrown);
    const cause = error instanceof CredentialError ? asError(error.cause) : error;
    const observed = `as ${kind}: ${cause.message}`;
    const { advice } = explain(error);
    if (meaningOf(cause).action !== 'pause') {
      const code = httpStatusOf(cause) === undefined ? 'no-token' : `status-${httpStatusOf(cause)}`;
      reportFinding('failure', 'token', code, observed, { expected: 'a token', advice });
      return false;
    }
    const acceptedKind = await otherAcceptedForm(run);
    const code = acceptedKind === undefined ? 'rejected' : 'other-form';
    reportFinding('failure', check, code, observed, {
      expected: '200 with a token',
      advice:
        acceptedKind === undefined
          ? advice
          : `set PORTAL_AUTH=${acceptedKind}: the portal accepts the same credentials in that form`,
    });
    return false;
  }
}

/** Refreshes the token. Whether the portal accepts the new one is shown by the operations that follow. */
async function checkRefresh({ tokens, reportFinding, signal }: Run): Promise<void> {
  try {
    await tokens.refresh(signal);
    reportFinding('ok', 'token', 'refreshed', 'POST /auth/token/refresh was accepted');
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const error = asError(thrown);
    const advice = 'nothing has to be done: the exporter signs in again whenever a token expires';
    reportFinding('warning', 'token', `refresh-${httpStatusOf(error) ?? 'failed'}`, error.message, {
      expected: '200 with a new pair of tokens',
      advice,
    });
  }
}

async function otherAcceptedForm({ client, options: { credentials }, signal }: Run): Promise<string | undefined> {
  if (credentials.kind === 'user_key') return undefined;
  const kind = credentials.kind === 'oauth2' ? 'service_key' : 'oauth2';
  try {
    await client.send(tokenRequest({ ...credentials, kind }), signal);
    return kind;
  } catch {
    return undefined;
  }
}

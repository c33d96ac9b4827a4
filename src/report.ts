import type { Source } from './apis.ts';
import type { ApiReading } from './exposition/own.ts';
import type { StatusReport } from './exposition/pages.ts';
import type { Api } from './metrics/snapshot.ts';
import type { Outside } from './outside.ts';
import { dataTasks, demandPerSecond, stretch, worstAgeMs } from './polling/sweep.ts';

/** What people call the APIs. */
const NAMES = { gfa: 'File acceleration (gfa)', portal: 'Portal (portal)' } as const satisfies Record<Api, string>;

/** How many times its interval a task of this API has to wait, as the limits are now. */
export function stretchOf(source: Source | undefined): number {
  if (source === undefined) return 1;
  const { watch, runner, pacer } = source;
  const demand = demandPerSecond(watch.tasks, ({ id }) => runner.restReason(id) !== undefined);
  return stretch(demand, pacer.sustainedPerSecond);
}

/** What an API looks like at this moment, for the exporter's own metrics. */
export function read(source: Source): ApiReading {
  const { api, watch, pacer, runner, intervalMs } = source;
  const stretched = stretchOf(source);
  const awake = dataTasks(watch.tasks).filter(({ id }) => runner.restReason(id) === undefined);
  const longestMs = awake.reduce((most, task) => Math.max(most, task.intervalMs), intervalMs);
  const ages = watch.ages(({ id }) => runner.restReason(id) === undefined);
  return {
    api,
    up: watch.up,
    pacePerSecond: pacer.perSecond,
    budgetRemaining: pacer.budgetRemaining,
    lastSuccessSeconds: watch.lastSuccessAt === undefined ? undefined : watch.lastSuccessAt / 1000,
    sweepSeconds: watch.sweepSeconds,
    effectiveIntervalSeconds: (intervalMs * stretched) / 1000,
    resting: runner.restingBy(),
    medianAgeSeconds: ages?.medianSeconds,
    worstAgeSeconds: ages?.worstSeconds,
    computedWorstAgeSeconds: worstAgeMs(longestMs, stretched) / 1000,
  };
}

/** What the API refuses, and why: operations about no single appliance, for that an appliance lacks a series is nothing new. */
function refusals({ watch, runner }: Source): readonly (readonly [string, string])[] {
  const texts = watch.tasks.flatMap(({ id, operation, appliance }) => {
    const reason = runner.restReason(id);
    return reason === undefined || appliance !== undefined ? [] : [`${operation} (${reason})`];
  });
  const distinct = [...new Set(texts)];
  return distinct.length === 0 ? [] : [['Refused', distinct.join(', ')]];
}

/** All that the status page shows of this moment. */
export function report(sources: readonly Source[], { version, clock }: Outside): StatusReport {
  const now = clock.now();
  const ago = (at: number | undefined) => (at === undefined ? 'never' : `${Math.round((now - at) / 1000)} s ago`);
  return {
    version,
    apis: sources.map((source) => {
      const { api, watch, facts } = source;
      const { pacePerSecond, budgetRemaining, effectiveIntervalSeconds, sweepSeconds } = read(source);
      const { resting } = source.runner;
      return {
        name: NAMES[api],
        up: watch.up,
        facts: [
          ...facts(),
          ['Last success', ago(watch.lastSuccessAt)],
          ['Last error', watch.lastError ?? 'none'],
          ['Pace', `${pacePerSecond.toFixed(2)} requests a second`],
          [
            'Budget left',
            budgetRemaining === undefined
              ? 'no daily limit'
              : `${budgetRemaining.toLocaleString('en')} requests of the limit of 24 hours`,
          ],
          ['Interval', `${Math.round(effectiveIntervalSeconds)} s as the limits allow it`],
          ['Last sweep', sweepSeconds === undefined ? 'not ended yet' : `${sweepSeconds.toFixed(1)} s`],
          ['Tasks', `${watch.tasks.length}, ${resting} of them resting`],
          ...refusals(source),
        ],
      };
    }),
    appliances: sources.flatMap(({ watch }) =>
      watch.appliances().map(({ name, serial, up, lastPollAt, lastSuccessAt, lastError }) => ({
        name,
        serial,
        up,
        lastPoll: ago(lastPollAt),
        lastSuccess: ago(lastSuccessAt),
        lastError: lastError ?? '',
      })),
    ),
  };
}

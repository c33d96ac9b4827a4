import type { Log } from '../runtime/log.ts';
import type { Plan } from './plan.ts';

/** Logs once when a fleet becomes too large for its interval, with what would help, and once when it fits again. */
export function createPlanWarner(log: Log): (plan: Plan, tasks: number) => void {
  let hasFitted = true;
  return (plan, tasks) => {
    if (plan.fits === hasFitted) return;
    hasFitted = plan.fits;
    const figures = {
      tasks,
      requestsPerSecond: rounded(plan.requestsPerSecond),
      shareOfBurstLimit: rounded(plan.burstShare),
      shareOfDailyLimit: plan.dayShare === undefined ? undefined : rounded(plan.dayShare),
      effectiveIntervalSeconds: Math.round(plan.effectiveIntervalMs / 1000),
    };
    const { interval } = plan.demand.variables;
    if (plan.fits) log.info(figures, `the limits allow ${interval} again`);
    else {
      const message = `the limits do not allow ${interval}; data is polled at a longer interval`;
      log.warn({ ...figures, help: plan.advice }, message);
    }
  };
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

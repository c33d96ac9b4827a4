import type { Log } from '../runtime/log.ts';
import type { Plan } from './plan.ts';

/** Logs once when a fleet becomes too large for its interval, with what would help, and once when it fits again. */
export class Feasibility {
  readonly #log: Log;
  #fits = true;

  constructor(log: Log) {
    this.#log = log;
  }

  judge(plan: Plan, tasks: number): void {
    if (plan.fits === this.#fits) return;
    this.#fits = plan.fits;
    const figures = {
      tasks,
      requestsPerSecond: rounded(plan.requestsPerSecond),
      shareOfBurstLimit: rounded(plan.burstShare),
      shareOfDailyLimit: plan.dayShare === undefined ? undefined : rounded(plan.dayShare),
      effectiveIntervalSeconds: Math.round(plan.effectiveIntervalMs / 1000),
    };
    if (plan.fits) this.#log.info(figures, `the limits allow ${plan.demand.variables.interval} again`);
    else
      this.#log.warn(
        { ...figures, help: plan.advice },
        `the limits do not allow ${plan.demand.variables.interval}; data is polled at a longer interval`,
      );
  }
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

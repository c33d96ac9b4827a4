import type { Explain } from '../contract/causes.ts';
import { clockSkewWarning, type ServiceWarning, serviceWarning } from '../contract/service-warning.ts';
import type { ServiceLimits } from '../transport/rate/limits.ts';
import type { ServiceClock } from '../transport/service-clock.ts';

/** Returns the warnings that follow from the responses of any service. */
export function serviceWarnings(
  serviceClock: ServiceClock,
  limits: ServiceLimits,
  explain: Explain,
): readonly ServiceWarning[] {
  const { skewMs = 0, isSkewed } = serviceClock;
  const warnings: ServiceWarning[] = [];
  if (isSkewed) {
    const seconds = 10 * Math.round(Math.abs(skewMs) / 10_000);
    warnings.push(clockSkewWarning(`about ${seconds} s ${skewMs > 0 ? 'behind' : 'ahead of'}`));
  }
  if (limits.isThrottled) warnings.push(serviceWarning('throttled', explain('throttled').happened));
  return warnings;
}

/** A warning begins when the limits lengthen the interval by the first factor, and ends below the second one. */
const LATE = { begins: 2, ends: 1.5 } as const;

/** Warns if data comes clearly later than configured, because the limits allow too few requests. */
export class LateDataWarning {
  #isLate = false;

  /** `factor`: by how much the limits lengthen intervals now. */
  update(factor: number): readonly ServiceWarning[] {
    this.#isLate = factor >= (this.#isLate ? LATE.ends : LATE.begins);
    if (!this.#isLate) return [];
    const happened = `the limits allow so few requests that data comes ${Math.round(factor)} times later than configured`;
    return [serviceWarning('late_data', happened)];
  }
}

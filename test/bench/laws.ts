import type { RateLaw } from '../../src/transport/rate/adaptive-rate.ts';

/** Lets a law hear of each spell of refusals once, as ours does: told again, only the end of the hold has moved. */
function once(law: RateLaw, moved: (until: number) => void): RateLaw {
  let refusing = false;
  return {
    rate: law.rate,
    accepted: law.accepted,
    throttled: (now, until) => {
      if (refusing) moved(until);
      else law.throttled(now, until);
      refusing = true;
    },
    resumed: () => {
      refusing = false;
    },
  };
}

/** Additive increase, multiplicative decrease: what TCP Reno does. */
export function aimd(ceiling: number, now: number): RateLaw {
  let rate = ceiling;
  let at = now;
  const raise = (to: number) => {
    rate = Math.min(ceiling, rate + ceiling * 0.005 * Math.max(0, (to - at) / 1000));
    at = Math.max(at, to);
  };
  const law: RateLaw = {
    rate: (to) => {
      raise(to);
      return rate;
    },
    accepted: () => {},
    resumed: () => {},
    throttled: (to, until) => {
      raise(to);
      rate = Math.max(ceiling * 0.005, rate * 0.7);
      at = until;
    },
  };
  return once(law, (until) => {
    at = until;
  });
}

/** CUBIC (RFC 9438) on the rate: back to the rate that was refused on a cubic curve, then beyond it. */
export function cubic(ceiling: number, now: number): RateLaw {
  let refusedAt = ceiling;
  let base = ceiling;
  let from = now;
  const approach = 20_000;
  const rateAt = (to: number) => {
    const progress = (Math.max(0, to - from) - approach) / approach;
    return Math.min(ceiling, Math.max(ceiling * 0.005, refusedAt + (refusedAt - base) * progress ** 3));
  };
  const law: RateLaw = {
    rate: rateAt,
    accepted: () => {},
    resumed: () => {},
    throttled: (to, until) => {
      refusedAt = rateAt(to);
      base = refusedAt * 0.7;
      from = until;
    },
  };
  return once(law, (until) => {
    from = until;
  });
}

/** A gradient in the manner of TCP Vegas: up by a fixed part while all is taken, down in proportion to what is refused. */
export function gradient(ceiling: number, now: number): RateLaw {
  let rate = ceiling;
  let at = now;
  let taken = 0;
  const raise = (to: number) => {
    const seconds = Math.max(0, (to - at) / 1000);
    rate = Math.min(ceiling, rate * 1.01 ** seconds);
    at = Math.max(at, to);
  };
  const law: RateLaw = {
    rate: (to) => {
      raise(to);
      return rate;
    },
    accepted: () => {
      taken += 1;
    },
    resumed: () => {},
    throttled: (to, until) => {
      raise(to);
      rate = Math.max(ceiling * 0.005, rate * (1 - 2 / Math.sqrt(taken + 9)));
      taken = 0;
      at = until;
    },
  };
  return once(law, (until) => {
    at = until;
  });
}

/** What most clients do: no pace, so many at once, and on a refusal wait, doubling. Held by its caller; the rate is open. */
export function unpaced(ceiling: number): RateLaw {
  return { rate: () => ceiling, accepted: () => {}, throttled: () => {}, resumed: () => {} };
}

/** A throttle set by hand. */
export function fixed(perMs: number): RateLaw {
  return { rate: () => perMs, accepted: () => {}, throttled: () => {}, resumed: () => {} };
}

import { type Clock, systemClock } from '../../src/runtime/clock.ts';

/**
 * The real clock, so many times as fast: for tests over real sockets, where time cannot be moved by hand. It began at
 * `since`, in epoch milliseconds: two processes that are told the same moment have the same time.
 */
export function fastClock(times: number, since = systemClock.now()): Clock {
  const behind = systemClock.now() - since;
  const start = systemClock.monotonic();
  const elapsed = () => (behind + systemClock.monotonic() - start) * times;
  return {
    now: () => since + elapsed(),
    monotonic: elapsed,
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  };
}

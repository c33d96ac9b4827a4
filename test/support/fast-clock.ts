import { type Clock, systemClock } from '../../src/runtime/clock.ts';

/** The real clock, so many times as fast: for tests over real sockets, where time cannot be moved by hand. */
export function fastClock(times: number): Clock {
  const epoch = systemClock.now();
  const start = systemClock.monotonic();
  const elapsed = () => (systemClock.monotonic() - start) * times;
  return {
    now: () => epoch + elapsed(),
    monotonic: elapsed,
    sleep: (ms, signal) => systemClock.sleep(ms / times, signal),
  };
}

import { CredentialError } from '../runtime/errors.ts';
import type { Random } from '../runtime/random.ts';
import type { Agenda } from './agenda.ts';
import type { Outcome } from './poll.ts';
import type { PolledTask } from './polled-task.ts';
import type { TaskFacts } from './task-facts.ts';
import type { TaskRegistry } from './task-registry.ts';
import { RESPONSES, Verdict, works } from './verdict.ts';

/** Time between two probes, in milliseconds: doubling from the first to the longest. */
const PROBE = { firstMs: 2_000, maxMs: 30_000 } as const;

interface ServiceDependencies {
  readonly registry: TaskRegistry;
  readonly agenda: Agenda;
  readonly random: Random;
  readonly staleAfter: number;
  /** So many failures in a row bring down a service that has not responded yet. */
  readonly maxFailures: number;
  readonly now: number;
}

/**
 * Whether the service responds, and the probes while it does not: then a single series at a time is polled every few
 * seconds, instead of the whole fleet. Times are monotonic milliseconds.
 */
export class ServiceState {
  readonly #dependencies: ServiceDependencies;
  #verdict: Verdict<PolledTask>;
  #failuresInARow = 0;
  /** The task that responded last, without two failures just before: the best one to poll when in doubt. */
  #last: PolledTask | undefined;
  #roseAt = Number.NEGATIVE_INFINITY;
  #probe: PolledTask | undefined;
  #probes = 0;
  #nextProbeAt = Number.NEGATIVE_INFINITY;
  #isTurnOfLast = false;

  constructor(dependencies: ServiceDependencies) {
    this.#dependencies = dependencies;
    this.#verdict = new Verdict(RESPONSES, dependencies.staleAfter, dependencies.now);
  }

  /** Undefined before the first verdict. */
  get isUp(): boolean | undefined {
    return this.#verdict.isUp;
  }

  get lastSuccessAt(): number {
    return this.#verdict.lastSuccessAt;
  }

  /** When it became up. */
  get roseAt(): number {
    return this.#roseAt;
  }

  /** A poll has ended; `before`: what was known of its task. */
  end(polled: PolledTask, before: TaskFacts, outcome: Outcome, now: number): void {
    const wasProbe = this.#probe === polled;
    if (wasProbe) this.#probe = undefined;
    const { result } = outcome;
    const hasResponded = result === 'records' || result === 'empty';
    if (this.#dependencies.registry.decides(polled)) {
      if (hasResponded) {
        this.#failuresInARow = 0;
        if (before.failures <= 1 || wasProbe) this.#last = polled;
        this.#succeed(before, now);
      } else if (result === 'failed') this.#failuresInARow += 1;
    }
    const error = 'error' in outcome && outcome.error instanceof CredentialError ? outcome.error : undefined;
    if (error !== undefined && this.isUp !== false) this.#fall(now);
    if (!wasProbe && error === undefined) return;
    if (hasResponded) this.#isTurnOfLast = false;
    // A probe that cannot be sent only delays the next one.
    this.#nextProbeAt = Math.max(now + this.#probeDelayMs(), error?.pausedUntil ?? now);
  }

  /** Other tasks decide now, and the failures of the previous ones say nothing about these. */
  restart(now: number): void {
    if (this.isUp !== false) return;
    this.#verdict = new Verdict(RESPONSES, this.#dependencies.staleAfter, now);
    this.#failuresInARow = 0;
  }

  /** Lets time and failures take effect. */
  review(now: number, resumedAt: number): void {
    const { registry, agenda, maxFailures } = this.#dependencies;
    if (registry.areAllForbidden && this.isUp !== false) this.#fall(now);
    const wasUp = this.isUp;
    const isOver =
      this.#failuresInARow > 0 &&
      (registry.unpolled === 0 || this.#failuresInARow >= Math.min(maxFailures, registry.size));
    const last = this.#last;
    const next = () => (last !== undefined && !last.isRemoved && works(RESPONSES, last.facts) ? last : undefined);
    const probed = this.#verdict.review(now, { intervalMs: this.#intervalMs, resumedAt, isOver, next });
    if (probed !== undefined) agenda.pollNow(probed);
    if (this.isUp === false && wasUp !== false) this.#startProbing(now);
  }

  deadline(now: number, resumedAt: number): number {
    return this.#verdict.deadline(now, { intervalMs: this.#intervalMs, resumedAt });
  }

  /** When the next probe may leave; infinite while one is in flight, or any series is. */
  get nextProbeAt(): number {
    const { isSeriesInFlight, firstSeries } = this.#dependencies.agenda;
    const isBusy = this.#probe !== undefined || isSeriesInFlight;
    return this.isUp === false && !isBusy && firstSeries !== undefined ? this.#nextProbeAt : Number.POSITIVE_INFINITY;
  }

  /** Alternates between the series that responded last and the first one of the agenda, because either may hang. */
  takeProbe(now: number): PolledTask | undefined {
    const { agenda } = this.#dependencies;
    if (now < this.nextProbeAt) return undefined;
    this.#isTurnOfLast = !this.#isTurnOfLast;
    const last = this.#last;
    const mayPollLast = last?.appliance !== undefined && agenda.dueOf(last) !== undefined;
    const probe = this.#isTurnOfLast && mayPollLast ? last : agenda.firstSeries;
    this.#probe = probe && agenda.start(probe);
    return probe;
  }

  get #intervalMs(): number {
    const { registry } = this.#dependencies;
    return registry.shortestMs * registry.intervalFactor;
  }

  #succeed(before: TaskFacts, now: number): void {
    const wasUp = this.isUp;
    this.#verdict.succeed(now, before, this.#intervalMs);
    if (this.isUp && !wasUp) this.#roseAt = now;
  }

  #fall(now: number): void {
    this.#verdict.fall(now);
    this.#startProbing(now);
  }

  #startProbing(now: number): void {
    this.#probes = 0;
    this.#nextProbeAt = now + this.#probeDelayMs();
  }

  /** Probes are not more frequent than polls are when the service is healthy. */
  #probeDelayMs(): number {
    const { registry, random } = this.#dependencies;
    const delayMs = Math.min(PROBE.maxMs, registry.shortestMs, PROBE.firstMs * 2 ** this.#probes);
    this.#probes += 1;
    const healthMs = registry.demandPerSecond > 0 ? 1000 / registry.demandPerSecond : 0;
    return Math.max(delayMs, healthMs) * (0.75 + random() / 2);
  }
}

import type { StandIn } from '../../src/demo/stand-in.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { Overhearing, WholeAnswer } from '../support/memory-dispatcher.ts';
import type { Scrape } from '../support/scrape.ts';
import { jsonOf } from './answers.ts';
import { Counters } from './counters.ts';
import { DataWitness } from './data-witness.ts';
import { RequestCount } from './limits.ts';
import { PortalWitness } from './portal-witness.ts';
import type { Told } from './told.ts';
import type { Trouble } from './trouble.ts';
import { Troubles } from './troubles.ts';

/** So long a trouble explains that a service counts as down, in milliseconds: until what it left is stale. */
const EXPLAINED_MS = 3_600_000;

/** What stands between exporter and services, and hears everything: holds what is sent and exposed against the promises. */
export class Witness implements Overhearing {
  readonly troubles = new Troubles();
  readonly counters = new Counters();
  readonly data = new DataWitness(this.troubles);
  readonly portal: PortalWitness;
  readonly limits: RequestCount;
  readonly #clock: Clock;
  #requests = 0;
  #toldDown: string | undefined;

  constructor(clock: Clock, told: Told, tokenMs: number) {
    this.#clock = clock;
    this.portal = new PortalWitness(told, this.troubles, tokenMs);
    this.limits = new RequestCount(told);
  }

  /** How many requests have left. */
  get requests(): number {
    return this.#requests;
  }

  left(path: string): void {
    this.#requests += 1;
    if (path.startsWith('/portal/')) this.limits.leaves(this.#clock.monotonic());
  }

  ended(path: string, answer: WholeAnswer | undefined): void {
    if (answer === undefined) return;
    const [bare = ''] = path.split('?');
    const now = this.#clock.monotonic();
    if (bare.startsWith('/portal/')) this.portal.answered(bare, answer, now);
    else if (answer.status === 200) this.data.answered(jsonOf(answer.body), now);
  }

  /**
   * The exporter was started again. `isKept`: with all that it had counted; `youngerByMs`: by how much its state looks
   * younger than it is, for the wall clock was set back meanwhile.
   */
  restarted(isKept: boolean, youngerByMs: number): void {
    const now = this.#clock.monotonic();
    this.counters.restarted(isKept);
    this.data.restarted(youngerByMs);
    this.portal.restarted(now);
    for (const touches of ['gfa', 'portal'] as const) {
      this.troubles.begin({ name: 'a restart', touches, echoMs: 0 })(now);
    }
  }

  /** The log says that a service is down: only trouble of that service explains it. */
  toldDown(api: 'gfa' | 'portal'): void {
    const concerns = (touches: Trouble['touches']) =>
      touches === api || (api === 'portal' && typeof touches === 'object');
    if (!this.troubles.isQuiet(concerns, EXPLAINED_MS, this.#clock.monotonic())) return;
    this.#toldDown ??= `${api} was told to be down, and nothing was wrong with it`;
  }

  /** Throws when more was sent than the limits allow, or a service was told to be down that is not. */
  expectNoViolation(): void {
    const violation = this.limits.violations[0] ?? this.#toldDown;
    if (violation !== undefined) throw new Error(violation);
  }

  /** Throws when what is exposed breaks a promise. */
  expectPromises(scrape: Scrape, standIn: StandIn): void {
    const now = this.#clock.monotonic();
    this.data.expectPromises(scrape, standIn, now);
    this.portal.expectPromises(scrape, standIn, now);
    this.counters.expectNoneWentBack(scrape, new Set(standIn.fleet.appliances.map(({ serial }) => serial)));
  }
}

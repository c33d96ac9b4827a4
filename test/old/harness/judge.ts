import { expect } from 'vitest';
import type { ParsedSample } from '../support/exposition-parser.ts';
import type { WholeAnswer } from '../support/memory-dispatcher.ts';
import type { LogLine } from '../support/program.ts';
import type { Scrape } from '../support/scrape.ts';
import { Counts } from './counts.ts';
import { type Evidence, SURPLUS_MS } from './evidence.ts';
import { excessIn } from './excess.ts';
import { API_UP, APPLIANCE_UP } from './names.ts';
import { neglectedIn } from './neglected.ts';
import { DATA, type Scope, seriesPlace } from './troubles.ts';
import { untrueIn } from './untrue.ts';

/** Lines that a start and a stop take, and those that one act of the story may take with one appliance, beside those of each. */
const LINES = { life: 20, act: 8, appliance: 3 } as const;

/** After a trouble a service may be told to be down for so long, in milliseconds: until what it left is stale. */
const EXPLAINED_MS = 3_600_000;

/**
 * What holds in every life, whatever its story: what is shown is so, what is healthy is asked and shown, nothing flaps, no
 * counter falls or jumps, trouble costs no more requests than health, and the log tells a story and not each poll. It
 * knows the truth from what the services said.
 */
export class Judge {
  readonly #evidence: Evidence;
  readonly #counts = new Counts();
  /** Of each `up`, its value and how often it changed. */
  readonly #ups = new Map<string, { value: number; changes: number }>();
  /** Each broken promise, and the minute in which it was first. */
  readonly #broken = new Map<string, number>();
  /** Counters of appliances, filers or volumes that the story lets go. */
  forgives: (labels: Readonly<Record<string, string>>) => boolean = () => false;
  /** What has happened, for people. */
  readonly tale: string[] = [];
  /** Promises that this story is not about: the beginning of a complaint. */
  readonly excused: string[] = [];

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
  }

  /** Something is wrong until what it returns is called, and may be felt for `echoMs` more. */
  troubled(scope: Scope, echoMs: number): () => void {
    const ended = this.#evidence.troubles.begin(scope, echoMs);
    return () => ended(this.#evidence.now);
  }

  /** An exporter starts; `isKept`: with what the one before it had counted. */
  started(isKept: boolean): void {
    this.#evidence.starts.push(this.#evidence.now);
    this.troubled({}, 0)();
    this.#counts.restarted(isKept);
    this.#evidence.deliveries.restarted(isKept);
    if (!isKept) this.#evidence.requests.forget();
  }

  answered(path: string, answer: WholeAnswer): void {
    this.#evidence.deliveries.take(path, answer);
  }

  /** A line of the log. */
  logged({ msg, api }: LogLine): void {
    if (!msg.startsWith('the API cannot be polled')) return;
    const { joined, told, troubles, now } = this.#evidence;
    const places =
      api === 'gfa'
        ? [DATA]
        : [...joined.keys()].flatMap((serial) => told.series.map((one) => seriesPlace(serial, one)));
    const well = places.find((place) => troubles.isQuiet(place, EXPLAINED_MS, now));
    if (well !== undefined) this.#break(`unwell: ${api} was told to be down, and nothing is wrong with ${well.path}`);
  }

  looked(scrape: Scrape, isReady: boolean): void {
    const evidence = this.#evidence;
    evidence.looked(scrape);
    // Whatever the services do, each has been polled once within an interval.
    if (!isReady && evidence.now - evidence.startedAt > evidence.longestMs + SURPLUS_MS)
      this.#break('unready: an interval after its start');
    for (const broken of untrueIn(scrape, evidence, this.forgives)) this.#break(broken);
    for (const broken of neglectedIn(scrape, evidence, this.forgives)) this.#break(broken);
    for (const broken of excessIn(evidence)) this.#break(broken);
    for (const broken of this.#counts.broken(scrape, this.forgives)) this.#break(broken);
    for (const name of [API_UP, APPLIANCE_UP]) for (const sample of scrape.all(name)) this.#watchUp(sample);
  }

  /** Throws when a promise was broken in this life. */
  expectPromises(log: readonly LogLine[], acts: number): void {
    for (const [up, { changes }] of this.#ups) {
      if (changes > acts + 1) this.#break(`flaps: ${up} changed ${changes} times for ${acts} acts of the story`);
    }
    const most = LINES.life + acts * (LINES.act + LINES.appliance * this.#evidence.maxAppliances);
    if (log.length > most) this.#break(`talks: ${log.length} lines for ${acts} acts, ${most} at most`);
    if (log.some(({ stack, err }) => stack ?? (err as { stack?: string } | undefined)?.stack === 'defect'))
      this.#break('a defect in the log');
    const broken = [...this.#broken].filter(([one]) => !this.excused.some((excused) => one.startsWith(excused)));
    expect(
      broken.slice(0, 10).map(([one, minute]) => `minute ${minute}, ${one}`),
      this.tale.join(', '),
    ).toEqual([]);
  }

  /** Each promise that was broken so far, as people read it. */
  get broken(): readonly string[] {
    return [...this.#broken.keys()];
  }

  /** What else an operator would not forgive. */
  complain(promise: string): void {
    this.#break(promise);
  }

  #watchUp({ name, labels, value }: ParsedSample): void {
    const key = `${name} ${labels.api ?? labels.serial}`;
    const known = this.#ups.get(key);
    if (known === undefined) this.#ups.set(key, { value, changes: 0 });
    else if (known.value !== value) this.#ups.set(key, { value, changes: known.changes + 1 });
  }

  #break(promise: string): void {
    if (this.#broken.size < 100 && !this.#broken.has(promise))
      this.#broken.set(promise, Math.round(this.#evidence.now / 60_000));
  }
}

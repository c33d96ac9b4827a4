import type { Config } from '../config/config.ts';
import type { ServiceSection } from '../config/section.ts';
import type { Examination } from '../doctor/examination.ts';
import type { Table } from '../metrics/family.ts';
import type { Sample } from '../metrics/samples.ts';
import type { ApplianceNames, Collector, Task } from '../metrics/task.ts';
import type { Variant } from '../metrics/variant.ts';
import type { FleetPlan, SampleShare } from '../planning/plan.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Random } from '../runtime/random.ts';
import type { AllowedRequests } from '../transport/allowed.ts';
import type { JsonClient } from '../transport/client.ts';
import type { Exchange } from '../transport/exchange.ts';
import type { RateLimit } from '../transport/rate/pace.ts';
import type { FilerNames } from './filer-names.ts';

/** One service: all that the rest of the program knows of it. `sources/upstreams.ts` lists them. */
export interface Upstream<Settings = unknown> {
  /** Its name and its variables. */
  readonly section: ServiceSection<Settings>;
  /** What people call it. */
  readonly title: string;
  /** What comes of its answers, in the order of the exposition. */
  readonly tables: readonly Table[];
  /** What may be sent beside GET. */
  readonly allowed?: readonly AllowedRequests[];
  /** It answers about the whole account at once: of several shards, the first alone asks it. */
  readonly isWhole?: true;
  /** It tells what filers are called, so that others wait a moment for it. */
  readonly namesFilers?: true;
  /** Where it is asked, and how often at most. */
  target(settings: Settings, config: Config): Target;
  /** Whose state it is that is kept: what it must have in common with the next process to be taken over. */
  owner(settings: Settings, config: Config): readonly string[];
  connect(settings: Settings, parts: UpstreamParts): Connection;
  /** What `--doctor` does with it. */
  examine?(settings: Settings, parts: ExaminationParts): Examination;
  /** How often it gives points of the past, and how far back they reach; missing where it gives none. */
  points?(settings: Settings): { readonly intervalMs: number; readonly lookbackMs: number };
  /** The settings of a process that reads the history of these series, or of all that are polled; missing where there is none. */
  past?(
    settings: Settings,
    series: readonly string[] | undefined,
  ): { readonly settings: Settings; readonly binMs: number };
  /** The settings of a process beside the daemon, which must take nothing that is the daemon's. `now`: epoch milliseconds. */
  besideDaemon?(settings: Settings, now: number): Settings;
  /** Where requests grow with a fleet: what `--plan` says of them. */
  readonly planning?: Planning<Settings>;
  /** How many samples it comes to, beside the series of its plan. */
  size?(settings: Settings): readonly SampleShare[];
}

export interface Planning<Settings> {
  /** Variables to plan with where the service is not configured. */
  readonly placeholder: Readonly<Record<string, string>>;
  /** For so many appliances, polled by one of so many shards. */
  forFleet(settings: Settings, appliances: number, shards: number): FleetPlan;
}

/** How one service may be asked. */
export interface Target {
  readonly baseUrl: string;
  readonly limit: RateLimit;
  /** Requests in 24 hours; undefined for no limit. */
  readonly dailyLimit: number | undefined;
  /** The highest rate, in requests a millisecond. */
  readonly mostPerMs: number;
  /** Requests in flight at most. */
  readonly concurrency: number;
}

/** What a service is connected with. */
export interface UpstreamParts {
  readonly client: JsonClient;
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How large the heap may become. */
  readonly heapBytes: number;
  readonly names: FilerNames;
  /** Where what was counted is kept over restarts; without it nothing is. */
  readonly keeping: Keeping | undefined;
  readonly boundText: (bound: number) => string;
  /** From when on an output wants the points of a task, in milliseconds since the Unix epoch. */
  readonly wantedSince?: ((task: string) => number | undefined) | undefined;
}

/** What a service is examined with. */
export interface ExaminationParts {
  readonly client: JsonClient;
  readonly config: Config;
  readonly environment: { readonly clock: Clock; readonly random: Random; readonly log: Log };
  readonly boundText: (bound: number) => string;
  /** What was exchanged with the service so far. */
  readonly exchanges: readonly Exchange[];
}

/** The state file, as a service may ask for it. Neither call rejects. */
export interface Keeping {
  /** Keeps what is held now, and takes no longer than some seconds; what was counted may be exposed from then on. */
  save(): Promise<void>;
  /** What was kept turns out to be somebody else's. */
  disown(reason: string): Promise<void>;
}

/** One service that can be polled. */
export interface Connection {
  readonly collector: Collector;
  readonly intervalMs: number;
  /** What is concluded about each appliance; undefined where no appliance is asked for anything. */
  readonly appliances?: ApplianceNames | undefined;
  /** Hears of the tasks whenever others are polled. */
  readonly onTasks?: (tasks: readonly Task[]) => void;
  /** Reads the inventory, where there is one, and counts its appliances. */
  readonly count?: (signal: AbortSignal) => Promise<number>;
  /** Seconds until the token at hand expires, undefined without one; missing where the service takes a key as it is. */
  readonly tokenSecondsLeft?: () => number | undefined;
  /** What explains much that would puzzle an operator, in whole sentences. */
  readonly notes?: () => readonly string[];
  /** Which of its undocumented alternatives the account shows. */
  readonly variants?: () => readonly Variant[];
  /** What the inventory says of an appliance. */
  readonly describe?: (serial: string) => ApplianceDescription | undefined;
  /** Gives back what the service gave us. */
  readonly release?: (signal: AbortSignal) => Promise<unknown>;
  readonly kept?: KeptService;
  /** What the exporter says about itself of this service alone. */
  readonly events?: () => EventReading;
}

export interface ApplianceDescription {
  readonly type: string;
  readonly build: string;
  readonly availableBuild: string;
}

/** What of a service outlives a restart. */
export interface KeptService {
  /** Small counts, as a JSON value; read again before the first poll. `restore` throws where they cannot be used. */
  readonly counts?: {
    state(): unknown;
    restore(saved: Readonly<Record<string, unknown>>, elapsedMs: number): () => void;
  };
  /** What may be large, one value after the other; one service has such. Saved whenever one of its polls has ended. */
  readonly values?: {
    state(): Iterable<unknown>;
    restore(values: readonly unknown[], elapsedMs: number): Generator<void, () => void>;
    /** What can be exposed of it before the first poll, and when the answer came, in monotonic milliseconds. */
    known(): { readonly task: Task; readonly samples: Iterable<Sample>; readonly answeredAt: number } | undefined;
  };
}

/** The memory of events, and what the service's bookmarks say of events that never came. */
export interface EventReading {
  readonly eventMemory: {
    readonly size: number;
    readonly evicted: number;
    readonly limits: { readonly perPair: number; readonly total: number };
  };
  readonly bookmarks: { readonly missed: number; readonly isSuspicious: boolean };
}

import type { Stage } from './stage.ts';

/** Who attacks. `file` is what a disk, an editor or a deployment leaves behind. */
export type Attacker = 'stranger' | 'guest' | 'local user' | 'file';

/** One thing that somebody can try. */
interface Attack {
  /** How docs/security.md names it. */
  readonly id: string;
  readonly tries: string;
  /** What must hold, in words. */
  readonly holds: string;
}

/** An attack on a process of its own, in {@link MEMORY_MIB} of memory. */
export interface PlayedRow extends Attack {
  /** What the process is started with. */
  readonly setup: Setup;
  /** Whether it takes curl. */
  readonly needsClients?: boolean;
  /** Attacks, and throws where what must hold does not. */
  readonly play: (stage: Stage) => Promise<void>;
}

/** An attack on the start of a process, which may be its end. */
export interface StartRow extends Attack {
  /** Whether it takes openssl. */
  readonly needsCertificates?: boolean;
  readonly begin: () => Promise<void>;
}

/** A row of the battery. */
export type Row = PlayedRow | StartRow;

/** What a process is started with. */
export interface Setup {
  /** The web configuration; none for everybody in plain. */
  readonly web?: 'users' | 'costly users' | 'tls' | 'tls, clients and users';
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether the token is in a file, `token`, and not in the environment. */
  readonly hasTokenFile?: boolean;
}

/** The memory that a process has, kernel buffers of its connections among it where the kernel counts them. */
export const MEMORY_MIB = 256;

/**
 * The longest until the next good scrape once an attack has begun, in milliseconds: the usual scrape time-out. It is that of
 * a machine on which a process starts within a second, and longer in proportion where others keep the machine busy.
 */
export const NEXT_SCRAPE_MS = 10_000;

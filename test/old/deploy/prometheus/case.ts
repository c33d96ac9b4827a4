/** Labels of a series or of an alert. */
export type Labels = Readonly<Record<string, string>>;

/** Series in promtool's notation, with the values of each. */
export type Series = Readonly<Record<string, string>>;

/** What Prometheus has, and what an alert makes of it at a moment. */
export interface AlertCase {
  /** What is going on. */
  readonly when: string;
  readonly series: Series;
  readonly at: string;
  /** A moment before `at` when all of it holds, and not for long enough yet. */
  readonly pendingAt?: string;
  /** Time between two values, and between two evaluations; a minute unless it says so, the same for all cases of an alert. */
  readonly apart?: '5m';
  /** Every label of the alert but `alertname` and `severity`; none where it must not fire. */
  readonly fires?: Labels | readonly Labels[];
  /** What Prometheus puts in the place of each template of its description that is not a label, in order. */
  readonly values?: readonly string[];
}

/** None where it must not fire. */
export function firings({ fires = [] }: AlertCase): readonly Labels[] {
  return [fires].flat();
}

/** The cases of each alert, by its name. */
export type AlertCases = Readonly<Record<string, readonly AlertCase[]>>;

/** What a recording rule makes of series at a moment. */
export interface RecordingCase {
  readonly when: string;
  readonly series: Series;
  readonly at: string;
  /** The samples that there are, and no others. */
  readonly samples: readonly { readonly labels: Labels; readonly value: number }[];
}

/** The cases of each recording rule, by its name. */
export type RecordingCases = Readonly<Record<string, readonly RecordingCase[]>>;

/** What Prometheus adds to everything that it scrapes. */
export const scraped = { instance: 'exporter:9989', job: 'filer-exporter' } as const;

/** Filer edge-lyon. */
export const lyon = { ...scraped, filer: 'edge-lyon', filer_guid: 'f-1' } as const;

/** Volume projects. */
export const projects = { ...scraped, volume: 'projects', volume_guid: 'v-1' } as const;

/** Filer edge-lyon on volume projects. */
export const lyonOnProjects = { ...lyon, ...projects } as const;

/** Filer edge-oslo on volume projects. */
export const osloOnProjects = { ...projects, filer: 'edge-oslo', filer_guid: 'f-2' } as const;

/** Appliance edge-lyon. */
export const applianceLyon = { ...scraped, filer: 'edge-lyon', serial: 's-1' } as const;

/** Appliance edge-oslo. */
export const applianceOslo = { ...scraped, filer: 'edge-oslo', serial: 's-2' } as const;

/** One of the two APIs. */
export const api = (name: 'gfa' | 'portal') => ({ ...scraped, api: name }) as const;

/** The P2 lock in one of its states. */
export const p2 = (lock_state: 'acquired' | 'released') => ({ lock_phase: 'p2', lock_state }) as const;

/** A series as promtool writes it. */
export function series(name: string, labels: Labels): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return `${name}{${pairs.join(',')}}`;
}

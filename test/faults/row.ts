import type { Spoil } from '../support/front.ts';
import type { Instance } from './instance.ts';
import { SERIES } from './stamps.ts';

/** What is spoiled. */
export const OPERATIONS = ['token', 'serials', 'edges', 'data', 'series'] as const;

/** One of {@link OPERATIONS}. */
export type OperationName = (typeof OPERATIONS)[number];

/** What the log says of a change of state, and of the change back. */
export type Lines = readonly [bad: string, good: string];

/** The words of the log. */
export const LINES = {
  api: ['the API cannot be polled', 'the API answers again'],
  task: ['the operation cannot be polled', 'the operation can be polled again'],
  appliance: ['the appliance does not answer', 'the appliance answers'],
  refused: ['operation rejected; polled at the discovery interval', 'operation available again'],
  list: ['the inventory has a gap', 'the gap in the inventory is closed'],
} as const satisfies Record<string, Lines>;

/** What a row expects. */
export interface Expected {
  /** The label `code` of `filer_exporter_requests_total` that counts it. */
  readonly code: string;
  /** Further codes that the same trouble may have: of what was under way when it began, for instance. */
  readonly alsoCodes?: readonly string[];
  /** By which reason tasks rest. */
  readonly resting?: string;
  /** What is shown is what the answer says. */
  readonly isUsed?: boolean;
  /** The lines of the log, and no others; none when no state changes. */
  readonly lines: Lines | undefined;
  /** How many say these lines, each once: one of them unless told. */
  readonly speakers?: number;
  /** What the first of these lines gives as the reason. */
  readonly says?: string;
  /** Further lines that may come, from each speaker once: when a whole service is away, what hung on it may say so first. */
  readonly mayAlsoSay?: readonly Lines[];
  /** Who keeps its pace meanwhile: the other service always, and what of the same one is not touched. */
  readonly neighbours: 'all' | 'the other service';
  /** Back within so many seconds of the fault's end: everything is newer than it. */
  readonly withinSeconds: number;
  /** Why that is more than two intervals, where it is. */
  readonly because?: string;
}

/** How much of the portal a row of `series` spoils: one series of one appliance unless told. */
export type Scope = 'a series' | 'an appliance' | 'the portal';

/** One row of the battery. */
export interface Row {
  readonly operation: OperationName;
  readonly scope?: Scope;
  readonly fault: string;
  readonly expected: Expected;
  /** How many requests it spoils; all until it is lifted when undefined. */
  readonly times?: number;
  /** How long it lasts at least, from the first request on; until it shows when undefined. */
  readonly lastsSeconds?: number;
  /** What is done to the request, and how it is undone. */
  readonly spoil: (instance: Instance) => Spoil;
  readonly lift?: (instance: Instance) => unknown;
}

/** What of a request tells whether a row means it. */
export interface Asked {
  readonly operation: string;
  readonly serial: string | undefined;
}

/** Whether a row spoils a request; `serial` is of the appliance that it is about, if it is about one. */
export function isOf(
  asked: Asked,
  { operation, scope = 'a series' }: Pick<Row, 'operation' | 'scope'>,
  serial: string | undefined,
): boolean {
  if (operation !== 'series') return asked.operation === operation;
  if (scope === 'the portal') return true;
  return asked.serial === serial && (scope === 'an appliance' || asked.operation === SERIES[0]);
}

/** The service of an operation. */
export function apiOf(operation: OperationName): 'gfa' | 'portal' {
  return operation === 'data' ? 'gfa' : 'portal';
}

/** What an operation is called in the label `operation`. */
export function labelOf(operation: OperationName): string {
  return operation === 'series' ? SERIES[0] : operation;
}

/** What a row expects, in words. */
export function told({ scope, lastsSeconds, fault, expected }: Row): string {
  const { code, resting, isUsed, lines, speakers = 1, withinSeconds, because } = expected;
  const times = speakers === 1 ? 'once' : `once each of ${speakers}`;
  const facts = [`counted as ${code}`, ...(resting ? [`rests as ${resting}`] : []), ...(isUsed ? ['used'] : [])];
  const said = lines === undefined ? 'no change to log' : `“${lines[0]}” ${times}`;
  const whole = [
    fault,
    ...(scope === undefined ? [] : [`for all of ${scope}`]),
    ...(lastsSeconds === undefined ? [] : [`for ${lastsSeconds} s`]),
  ];
  const why = because === undefined ? '' : `, for ${because}`;
  return `${whole.join(', ')}: ${facts.join(', ')}; ${said}; over within ${withinSeconds} s${why}`;
}

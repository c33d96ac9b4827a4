import type { DemoAnswer, Scene } from '../exchange.ts';
import type { QueryRule } from './query.ts';

/** The identifiers in a path by the names of its template. */
export type Parameters = Readonly<Record<string, string>>;

/** One operation of the portal that only reads. */
export interface DemoOperation {
  /** A name for faults, rights and records. */
  readonly name: string;
  /** POST where the service wants a body for what only reads. */
  readonly method: 'GET' | 'POST';
  /** As documented, with `{identifier}` in braces. */
  readonly path: string;
  /** The documented query; what is not listed is passed over, as the service does. */
  readonly query?: Readonly<Record<string, QueryRule>>;
  /** Needs no bearer token. */
  readonly isPublic?: true;
  readonly answer: (scene: Scene, parameters: Parameters) => DemoAnswer;
}

/** A GET operation. */
export function get(
  name: string,
  path: string,
  answer: DemoOperation['answer'],
  query: DemoOperation['query'] = {},
): DemoOperation {
  return { name, method: 'GET', path, query, answer };
}

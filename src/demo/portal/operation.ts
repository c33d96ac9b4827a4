import type { DemoResponse, Scene } from '../exchange.ts';
import type { QueryRule } from './query.ts';

/** The identifiers in a path, by their names in the template. */
export type Parameters = Readonly<Record<string, string>>;

/** A read operation of the portal. */
export interface DemoOperation {
  /** A name for faults, rights and records. */
  readonly name: string;
  /** POST if the service expects a body for a read operation. */
  readonly method: 'GET' | 'POST';
  /** As documented, with `{identifier}` in braces. */
  readonly path: string;
  /** The documented query; other parameters are ignored, as the service does. */
  readonly query?: Readonly<Record<string, QueryRule>>;
  /** Needs no bearer token. */
  readonly isPublic?: true;
  readonly respond: (scene: Scene, parameters: Parameters) => DemoResponse;
}

/** A GET operation. */
export function get(
  name: string,
  path: string,
  respond: DemoOperation['respond'],
  query: DemoOperation['query'] = {},
): DemoOperation {
  return { name, method: 'GET', path, query, respond };
}

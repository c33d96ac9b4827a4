import { readFileSync } from 'node:fs';
import { ADDITIONAL_SERIES } from '../../src/services/portal/appliances/series-operations.ts';

/** One operation of a service as its interface names it. */
export interface Endpoint {
  readonly service: 'gfa' | 'portal';
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With `{identifier}` in braces. */
  readonly path: string;
}

/** Every operation of the two published interfaces. */
export const published: readonly Endpoint[] = listed('endpoints.txt');

/** The reading operations that the vendor's later definition adds, and series that the program has beyond both. */
export const beyond: readonly Endpoint[] = withSeries(listed('endpoints-beyond.txt'));

/** Whether an operation only reads: a GET, or telemetry, whose POST carries nothing but the period. */
export function onlyReads({ method, path }: Endpoint): boolean {
  return method === 'GET' || path.startsWith('/telemetry/');
}

/** Whether it is about the exporter's own token. */
export function isOfToken({ path }: Endpoint): boolean {
  return path.startsWith('/auth/token');
}

function withSeries(known: readonly Endpoint[]): readonly Endpoint[] {
  const paths = new Set([...published, ...known].map(({ path }) => path));
  const series = ADDITIONAL_SERIES.map((name) => `/telemetry/appliances/{serial_number}/${name}`);
  const added = series.filter((path) => !paths.has(path));
  return [...known, ...added.map((path) => ({ service: 'portal', method: 'POST', path }) as const)];
}

function listed(name: string): readonly Endpoint[] {
  const text = readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [service, method, path = ''] = line.split(' ');
      return { service, method, path } as Endpoint;
    });
}

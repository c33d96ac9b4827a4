import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { upstreamCatalog } from '../../src/catalog.ts';
import { LineStore } from '../../src/exposition/store.ts';
import type { JsonObject } from '../../src/metrics/family.ts';
import type { Sample } from '../../src/metrics/samples.ts';
import type { ServiceRequest } from '../../src/transport/json-client.ts';

/** A recorded response; the name is its path below `test/golden/recorded`, without `.json`. */
export function recorded(name: string): JsonObject {
  return JSON.parse(readFileSync(new URL(`recorded/${name}.json`, import.meta.url), 'utf8'));
}

/** The appliance that the recorded series are about. */
const SERIAL = 'a1d1b8de-4e2b-4d0c-9a7f-5a2b6c7d8e01';
const series = Object.entries(recorded('portal/series'));

/** Every recorded response of the portal, by {@link keyOf} of its request. */
export const portalResponses: JsonObject = Object.assign(
  {},
  ...['appliances', 'volumes', 'account'].map((name) => recorded(`portal/${name}`)),
  ...series.map(([name, body]) => ({ [`/telemetry/appliances/${SERIAL}/${name}`]: body })),
);

export function keyOf({ path, query }: ServiceRequest): string {
  return query?.type === undefined ? path : `${path}?type=${query.type}`;
}

/** Answers as recorded; another appliance than that of the recorded series has no records. */
export function recordedReply(request: ServiceRequest): object {
  const key = keyOf(request);
  if (key.startsWith('/telemetry/appliances/') && !key.includes(SERIAL)) return { items: [] };
  if (portalResponses[key] === undefined) throw new Error(`record a response of ${key}`);
  return Object(portalResponses[key]);
}

/**
 * Compares the lines of samples with the text beside a recorded response. HELP and TYPE are left out, because the reference
 * of the metrics has them. `npx vitest -u` writes the text anew.
 */
export async function expectExposition(samples: Iterable<Sample>, name: string): Promise<void> {
  const store = new LineStore(upstreamCatalog);
  await store.accept('recorded', samples);
  const text = [...store.snapshot('text').buffers()].join('');
  const path = new URL(`recorded/${name}.txt`, import.meta.url).pathname;
  await expect(text.replaceAll(/^# .*\n/gm, '')).toMatchFileSnapshot(path);
}

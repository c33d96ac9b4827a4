import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { upstreamCatalog } from '../../src/catalog.ts';
import { LineStore } from '../../src/exposition/store.ts';
import type { Sample } from '../../src/metrics/samples.ts';

/** A recorded response; the name is its path below `test/golden/recorded`, without `.json`. */
export function recorded(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`recorded/${name}.json`, import.meta.url), 'utf8'));
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

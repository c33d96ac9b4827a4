import { test } from 'vitest';
import { type Beginning, Life, MINUTE, type Restarts } from './life.ts';

/** Somebody looks so often, in milliseconds; the log tells what came and went in between. */
const LOOK_MS = 4 * MINUTE;

/** One life: what the services do, when, and what is seen of it. */
export interface Story {
  readonly name: string;
  readonly begins?: Beginning;
  readonly tells: (life: Life) => Promise<void>;
}

/** A test for each story, in which the exporter is started again where the story says that it may be. */
export function tell(stories: readonly Story[], restarts: Restarts): void {
  const suffix = restarts === 'never' ? '' : `, with a restart ${restarts}`;
  for (const { name, begins = {}, tells } of stories) {
    test(`${name}${suffix}`, async () => tells(await Life.begin({ lookMs: LOOK_MS, ...begins, restarts })));
  }
}

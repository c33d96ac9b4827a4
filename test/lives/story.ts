import { test } from 'vitest';
import { type Beginning, Life, type Restarts } from './life.ts';

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
    test(`${name}${suffix}`, async () => tells(await Life.begin({ ...begins, restarts })));
  }
}

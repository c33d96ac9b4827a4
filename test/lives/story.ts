import { test } from 'vitest';
import { MINUTE, type Setup, World } from '../harness/world.ts';

/** Somebody looks so often, in milliseconds; the log tells what came and went in between. */
const LOOK_MS = 4 * MINUTE;

/** One life: what the services do, when, and what is seen of it. */
export interface Story {
  readonly name: string;
  readonly begins?: Setup;
  readonly tells: (life: World) => Promise<void>;
}

/** What begins after twenty good minutes, and how all stands at its end and twenty minutes later. */
interface Trouble extends Pick<Story, 'name' | 'begins'> {
  /** How long it lasts, in milliseconds; forty minutes unless told. */
  readonly ms?: number;
  /** Begins it; what it returns ends it. */
  readonly begin: (life: World) => () => void;
  readonly during: string | RegExp;
  readonly after: string;
}

/** The story of one trouble. */
export function trouble({ ms = 40 * MINUTE, begin, during, after, ...story }: Trouble): Story {
  return {
    ...story,
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      const end = begin(life);
      const seen = await life.after(ms);
      end();
      life.expects([seen, await life.after(20 * MINUTE)], [during, after]);
    },
  };
}

/** A test for each story. */
export function tell(stories: readonly Story[]): void {
  for (const { name, begins = {}, tells } of stories) {
    test(name, async () => tells(await World.begin({ lookMs: LOOK_MS, ...begins })));
  }
}

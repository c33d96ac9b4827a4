import { test } from 'vitest';
import { standing } from '../harness/standing.ts';
import { MINUTE, type Setup, World } from '../harness/world.ts';

/** Somebody looks so often, in milliseconds; the log tells what came and went in between. */
const LOOK_MS = 4 * MINUTE;

/** One life: what the services do, when, and what is seen of it. */
export interface Story {
  readonly name: string;
  readonly begins?: Setup;
  readonly tells: (life: World) => Promise<void>;
}

/** What begins after ten good minutes, and how all stands at its end and a quarter of an hour later. */
interface Trouble extends Pick<Story, 'name' | 'begins'> {
  /** How long it lasts, in milliseconds; half an hour unless told. */
  readonly ms?: number;
  /** Begins it; what it returns ends it. */
  readonly begin: (life: World) => () => void;
  readonly during: string | RegExp;
  readonly after: string;
  /** The label `code` by which its requests are counted. */
  readonly code?: string;
}

/** The story of one trouble. */
export function trouble({ ms = 30 * MINUTE, begin, during, after, code, ...story }: Trouble): Story {
  return {
    ...story,
    tells: async (life) => {
      await life.passes(10 * MINUTE);
      const end = begin(life);
      const { scrape } = await life.passes(ms);
      const isCounted = code === undefined || scrape.sum('filer_exporter_requests_total', { code }) > 0;
      end();
      life.expects([standing(scrape), isCounted, await life.after(15 * MINUTE)], [during, true, after]);
    },
  };
}

/** A test for each story. */
export function tell(stories: readonly Story[]): void {
  for (const { name, begins = {}, tells } of stories) {
    test(name, async () => tells(await World.begin({ lookMs: LOOK_MS, ...begins })));
  }
}

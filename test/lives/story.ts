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

/** What begins after twenty good minutes, and how all stands at its end and twenty minutes later. */
interface Trouble extends Pick<Story, 'name' | 'begins'> {
  /** How long it lasts, in milliseconds; forty minutes unless told. */
  readonly ms?: number;
  /** Begins it; what it returns ends it. */
  readonly begin: (life: Life) => () => void;
  readonly during: string | RegExp;
  /** It is started again only afterwards: without any list it would know no appliance. */
  readonly restartsAfter?: boolean;
  readonly after: string;
}

/** The story of one trouble, in the middle of which the exporter may be started again. */
export function trouble({ ms = 40 * MINUTE, begin, during, after, restartsAfter = false, ...story }: Trouble): Story {
  return {
    ...story,
    tells: async (life) => {
      await life.passes(20 * MINUTE);
      const end = begin(life);
      await life.passes(ms / 2);
      if (!restartsAfter) await life.mayRestart();
      const seen = await life.after(ms / 2);
      end();
      if (restartsAfter) await life.mayRestart();
      life.expects([seen, await life.after(20 * MINUTE)], [during, after]);
    },
  };
}

/** A test for each story, in which the exporter is started again where the story says that it may be. */
export function tell(stories: readonly Story[], restarts: Restarts): void {
  const suffix = restarts === 'never' ? '' : `, with a restart ${restarts}`;
  for (const { name, begins = {}, tells } of stories) {
    test(`${name}${suffix}`, async () => tells(await Life.begin({ lookMs: LOOK_MS, ...begins, restarts })));
  }
}

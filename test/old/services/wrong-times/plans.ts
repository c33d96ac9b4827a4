import { seededRandom } from '../../../src/demo/seeded-random.ts';

const RECORDS = [
  'filer',
  'volume',
  'lock',
  'propagation',
  'bookmark',
  'telemetry',
  'notification',
  'job',
  'token',
] as const;
/** `the service`: everything that it says, and what it takes for now. */
const CULPRITS = [...RECORDS, 'request_time', 'Date', 'the service', 'this machine'] as const;
export type Culprit = (typeof CULPRITS)[number];

export const MINUTE = 60;
export const HOUR = 3600;
export const DAY = 24 * HOUR;
/** History is caught up so far back. */
export const CATCH_UP = 6 * HOUR;
const SIZES = { '30 s': 30, 'an hour': HOUR, '25 h': 25 * HOUR, 'ten years': 3652 * DAY } as const;

/** In polls a minute apart: the clock of a service is measured again after three. */
const [BEFORE, LASTING] = [4, 7];
export const MEASURED = 3;

/** For good: for longer than a cursor may be ahead, than history is caught up, and than an event is remembered. */
const HOURS = 26;

/** One time is wrong by so many seconds, during so many polls, which are a minute or an hour apart. */
export interface Trouble {
  readonly culprit: Culprit;
  readonly seconds: number;
  readonly from: number;
  readonly polls: number;
  readonly isHourly?: boolean;
}

/** What is wrong, and before which polls the process is restarted: it ends in order, or is killed. */
export interface Plan {
  readonly name: string;
  readonly troubles: readonly Trouble[];
  readonly restarts: ReadonlyMap<number, 'ended' | 'killed'>;
}

/** Before which poll a plan is restarted, and how, in turns: not at all, in the middle of the error, at its end, and after it. */
const RESTARTS = [
  undefined,
  ...([0.5, 1] as const).flatMap((share) => (['ended', 'killed'] as const).map((how) => ({ share, more: 0, how }))),
  { share: 1, more: 1, how: 'killed' },
] as const;

/** Each size of an error of each time, ahead and behind, once, for seven polls and for good, with a restart in turns. */
export const PLANS: readonly Plan[] = CULPRITS.flatMap((culprit) =>
  Object.entries(SIZES).flatMap(([size, seconds]) =>
    [1, -1].flatMap((sign) =>
      [1, LASTING, HOURS].map((polls) => ({
        culprit,
        size,
        seconds: sign * seconds,
        from: BEFORE,
        polls,
        isHourly: polls === HOURS,
      })),
    ),
  ),
).map(({ size, ...trouble }, index) => {
  const { culprit, seconds, polls } = trouble;
  const restart = RESTARTS[(index + Math.floor(index / RESTARTS.length)) % RESTARTS.length];
  const poll = BEFORE + Math.ceil(polls * (restart?.share ?? 0)) + (restart?.more ?? 0);
  const times = polls === 1 ? 'once' : `in ${polls} polls${trouble.isHourly ? ' an hour apart' : ''}`;
  return {
    name: `${culprit} ${size} ${seconds > 0 ? 'ahead' : 'behind'} ${times}${restart ? `, ${restart.how} before poll ${poll}` : ''}`,
    troubles: [trouble],
    restarts: new Map(restart && [[poll, restart.how]]),
  };
});

/** Up to three errors at once, of any size, and up to two restarts. */
export function drawnPlan(seed: number): Plan {
  const random = seededRandom(seed);
  const below = (count: number) => Math.floor(random() * count);
  const troubles = Array.from({ length: 1 + below(3) }, () => ({
    culprit: CULPRITS[below(CULPRITS.length)] ?? 'Date',
    // From half a minute to ten years, each magnitude equally often.
    seconds: (random() < 0.5 ? -1 : 1) * Math.round(30 * (SIZES['ten years'] / 30) ** random()),
    from: 1 + below(LASTING),
    polls: 1 + below(LASTING),
  }));
  const restarts = new Map(
    Array.from({ length: below(3) }, () => [2 + below(2 * LASTING), random() < 0.5 ? 'ended' : 'killed'] as const),
  );
  const told = troubles.map(
    ({ culprit, seconds, from, polls }) => `${culprit} by ${seconds} s in ${from} to ${from + polls - 1}`,
  );
  const name = `${seed}: ${[...told, ...[...restarts].map(([poll, how]) => `${how} before ${poll}`)].join(', ')}`;
  return { name, troubles, restarts };
}

/** From which poll on all is right. One response alone moves no measured clock, so what it reports does no harm at all. */
export function endOf({ culprit, seconds, from, polls }: Trouble): number {
  const isHeld = (culprit === 'Date' || culprit === 'request_time') && polls === 1 && Math.abs(seconds) > 30;
  return isHeld ? from - MEASURED : from + polls;
}

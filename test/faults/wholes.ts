import { effects } from './effects.ts';
import { APPLIANCES } from './instance.ts';
import { HANGING_SECONDS, LASTING_SECONDS, type Placed, QUICK } from './places.ts';
import { LINES, type Row } from './row.ts';

/** Every series of one appliance of several: the others and the portal as a whole have nothing to do with it. */
const appliances: readonly Placed[] = (
  [
    ['401', 2],
    ['500', 2],
    ['no answer to the request', 2 + HANGING_SECONDS],
  ] as const
).map(([fault, withinSeconds]) => {
  const effect = effects.find(({ name }) => name === fault);
  if (effect === undefined) throw new Error(`there is no effect named ${fault}`);
  const row: Row = {
    operation: 'series',
    scope: 'an appliance',
    fault,
    lastsSeconds: LASTING_SECONDS,
    spoil: () => effect.spoil,
    expected: {
      code: effect.code,
      lines: LINES.appliance,
      mayAlsoSay: [LINES.task],
      neighbours: 'all',
      withinSeconds,
      ...(effect.code === 'timeout' ? { because: 'a request under way still hangs' } : {}),
    },
  };
  return { row, setup: QUICK };
});

/** A gateway that knows nothing of the portal for a while; discovery is as much slower than polls as it is by default. */
const gateway: Placed = {
  setup: { ...QUICK, discoverySeconds: 3 },
  row: {
    operation: 'series',
    scope: 'the portal',
    fault: '404',
    lastsSeconds: LASTING_SECONDS,
    spoil:
      () =>
      ({ response }) =>
        response.writeHead(404, { 'content-type': 'text/html' }).end('<title>Not Found</title>'),
    expected: {
      code: '404',
      resting: 'not_found',
      lines: LINES.appliance,
      speakers: APPLIANCES,
      // What is asked once an hour may be due just then.
      mayAlsoSay: [LINES.task, LINES.refused],
      neighbours: 'the other service',
      withinSeconds: 3,
      because: 'what is not there is asked for at the pace of the inventory',
    },
  },
};

/** Rows about more of the portal than one series of one appliance. */
export const wholes: readonly Placed[] = [...appliances, gateway];

import { expect, test } from 'vitest';
import { RemoteWrite } from '../../src/history/remote-write.ts';
import { createLog } from '../../src/runtime/log.ts';
import type { PostResponse } from '../../src/transport/post.ts';
import { ManualClock } from '../support/manual-clock.ts';

const MINUTE_MS = 60_000;

/** What is logged when a receiver responds so to the first request. */
async function loggedOf(response: PostResponse) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  const span = { lookbackMs: 15 * MINUTE_MS, catchUpMs: 60 * MINUTE_MS, forgetAfterMs: 60 * MINUTE_MS };
  const options = { labels: {}, binMs: MINUTE_MS, intervalMs: 5 * MINUTE_MS, ...span };
  const remote = new RemoteWrite(options, async () => response, { clock, random: () => 0.5, log });
  const window = remote.windowOf({ id: 'task', now: () => clock.now() });
  const bin = {
    at: clock.now() - 15 * MINUTE_MS,
    samples: () => [{ name: 'filer_cpu', labels: {}, value: 1 }],
  };
  const minutes = Object.assign([bin], { requestedAt: clock.now(), to: window?.to ?? 0 });
  await remote.accept({ id: 'task', api: 'portal' }, { samples: [], drops: new Map(), empty: false, minutes });
  await remote.flush(new AbortController().signal);
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}

test('a redirect is not followed, and the log says where it leads', async () => {
  const [line] = await loggedOf({ status: 301, headers: { location: 'https://other.test/write' }, text: 'moved' });
  expect(line).toMatchObject({
    msg: 'remote write: the receiver accepts no points; they are sent again',
    response: '301: redirects to https://other.test/write',
  });
});

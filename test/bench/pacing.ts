import { setTimeout } from 'node:timers/promises';
import pLimit from 'p-limit';
import { Agent } from 'undici';
import type { StandIn, Variations } from '../../src/demo/stand-in.ts';
import { startStandIn } from '../../src/demo/stand-in.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { simulateFleet } from '../simulation/fleet.ts';
import { drive, measuredFrom } from '../support/drive.ts';
import { fastClock } from '../support/fast-clock.ts';
import { comparison } from './comparison.ts';
import { fixed } from './laws.ts';
import type { Report } from './main.ts';

/** Over real sockets the clock runs so many times as fast: a minute and a half in a quarter of it. */
const TIMES = 4;
const SECONDS = 60;
const FAIR = 60;

const limits: Readonly<Record<string, Partial<Variations>>> = {
  bucket: { rateLimit: { kind: 'token-bucket', perSecond: FAIR, burst: 30 } },
  bucket_untold: { rateLimit: { kind: 'token-bucket', perSecond: FAIR, burst: 30 }, retryAfter: 'none' },
  window: { rateLimit: { kind: 'fixed-window', requests: FAIR * 30, windowMs: 30_000 } },
};

/** What the pace makes of limits, beside two baselines in the same run: back-off alone, and half the limit by hand. */
export async function pacing(report: Report): Promise<void> {
  for (const cell of comparison()) {
    const place = `${cell.limit}${cell.retryAfter ? '' : ', no Retry-After'}`;
    report(`pacing/simulated/${cell.law}/goodput/${place}`, cell.goodput, 'share');
    report(`pacing/simulated/${cell.law}/refused/${place}`, cell.refused, 'share');
  }
  for (const [name, variations] of Object.entries(limits)) {
    const measured = await against(variations, (standIn, clock) =>
      drive({ standIn, clock, toldPerSecond: 200, seconds: SECONDS }),
    );
    report(`pacing/http/${name}/ours/goodput`, measured.perSecond / FAIR, 'share');
    report(`pacing/http/${name}/ours/refused`, measured.refusedShare, 'share');
    const half = await against(variations, (standIn, clock) =>
      drive({ standIn, clock, toldPerSecond: 200, seconds: SECONDS, law: () => fixed(FAIR / 2 / 1000) }),
    );
    report(`pacing/http/${name}/throttle at half/goodput`, half.perSecond / FAIR, 'share');
    report(`pacing/http/${name}/throttle at half/refused`, half.refusedShare, 'share');
    const backOff = await against(variations, driveBackOff);
    report(`pacing/http/${name}/p-limit and back-off/goodput`, backOff.perSecond / FAIR, 'share');
    report(`pacing/http/${name}/p-limit and back-off/refused`, backOff.refusedShare, 'share');
  }
  const account = {
    series: 15,
    intervalMs: 300_000,
    limit: { requests: 500, windowMs: 30_000 },
    dailyLimit: 1_000_000,
  };
  for (const appliances of [100, 500, 2_000]) {
    const fleet = simulateFleet({ ...account, appliances, hours: 48 });
    report(`pacing/fleet/${appliances}/refused in 48 h`, fleet.refused, 'requests');
    report(`pacing/fleet/${appliances}/quota used`, fleet.quotaUsed, 'share');
    report(`pacing/fleet/${appliances}/worst age`, fleet.worstAgeSeconds, 's');
    report(`pacing/fleet/${appliances}/worst age computed`, fleet.computedWorstAgeSeconds, 's');
  }
}

interface Outcome {
  readonly perSecond: number;
  readonly refusedShare: number;
}

async function against(
  variations: Partial<Variations>,
  run: (standIn: StandIn, clock: Clock) => Promise<Outcome>,
): Promise<Outcome> {
  const clock = fastClock(TIMES);
  const standIn = await startStandIn({ clock, variations });
  try {
    return await run(standIn, clock);
  } finally {
    await standIn.close();
  }
}

/** What most clients do: so many at once, and after a refusal each request waits for itself, doubling from a second. */
async function driveBackOff(standIn: StandIn, clock: Clock): Promise<Outcome> {
  const agent = new Agent({ connections: 8 });
  const limit = pLimit(8);
  const base = new URL(standIn.portalUrl);
  const ask = (path: string, headers: Record<string, string>, body: string | null) =>
    agent.request({ origin: base.origin, path: `${base.pathname}${path}`, method: 'POST', headers, body });
  const tokens = (await (
    await ask('/auth/token', { 'x-user-key': standIn.credentials.userKey }, null)
  ).body.json()) as {
    readonly access_token: string;
  };
  const headers = { authorization: `Bearer ${tokens.access_token}`, 'content-type': 'application/json' };
  const path = `/telemetry/appliances/${standIn.fleet.appliances[0]?.serial}/smb_connections`;
  const from = measuredFrom(clock.now());
  const seen = { sent: 0, refused: 0, taken: 0 };
  const running = () => clock.now() < from + SECONDS * 1000;
  const one = async () => {
    for (let attempt = 0; running(); attempt += 1) {
      const answer = await ask(path, headers, '{"period":"PT6M","bin_size":60}');
      await answer.body.dump();
      seen.sent += 1;
      if (answer.statusCode !== 429) {
        if (clock.now() >= from && running()) seen.taken += 1;
        return;
      }
      seen.refused += 1;
      await clock.sleep(1_000 * 2 ** attempt);
    }
  };
  const workers = Array.from({ length: 8 }, async () => {
    while (running()) await limit(one);
  });
  await Promise.race([Promise.all(workers), setTimeout(((SECONDS + 60) * 1000) / TIMES + 60_000)]);
  await agent.destroy();
  return { perSecond: seen.taken / SECONDS, refusedShare: seen.refused / seen.sent };
}

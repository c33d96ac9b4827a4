import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type StandIn, startStandIn } from '../../src/demo/stand-in.ts';
import { systemClock } from '../../src/runtime/clock.ts';

/*
 * What a fleet takes of a machine: the table of docs/deployment.md, one JSON object a line. The built program runs as a
 * process of its own, without limits, until a whole sweep is on its page; so `npm run build` comes first. Linux only.
 */

const FLEETS = [10, 100, 500, 2000];
const SCRAPES = 10;
/** A page that has not grown for so many looks, two seconds apart, is whole. */
const SETTLED_LOOKS = 5;
/** The unit of processor times in /proc: a hundredth of a second everywhere that Node.js runs. */
const TICK_SECONDS = 0.01;

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

for (const withGfa of [false, true]) {
  for (const appliances of FLEETS) {
    const limits = { rateLimit: null, dailyLimit: null };
    const standIn = await startStandIn({ clock: systemClock, appliances, volumes: 5, variations: limits });
    const figures = await measure(standIn, withGfa);
    process.stdout.write(`${JSON.stringify({ appliances, services: withGfa ? 'both' : 'portal', ...figures })}\n`);
    await standIn.close();
  }
}

async function measure({ portalUrl, gfaUrl, credentials }: StandIn, withGfa: boolean) {
  const portal = {
    PORTAL_URL: portalUrl,
    PORTAL_SERVICE_KEY: credentials.serviceKey,
    PORTAL_SERVICE_SECRET: credentials.serviceSecret,
    PORTAL_RATE_LIMIT: '20000/1s',
    PORTAL_DAILY_LIMIT: '0',
    // One sweep and no other.
    PORTAL_INTERVAL: '2h',
  };
  const gfa = withGfa ? { GFA_URL: gfaUrl, GFA_TOKEN: credentials.gfaToken } : {};
  const child = spawn(process.execPath, [main], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH, LISTEN_ADDRESS: '127.0.0.1:0', ...portal, ...gfa },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  try {
    while (!/"port":\d+/.test(log)) await sleep(100);
    const url = `http://127.0.0.1:${/"port":(\d+)/.exec(log)?.[1]}/metrics`;
    const samples = await settledSamples(url);
    const sweepSeconds = processorSeconds(child.pid);
    for (let scrape = 0; scrape < SCRAPES; scrape += 1) await (await fetch(url)).arrayBuffer();
    const scrapeMs = ((processorSeconds(child.pid) - sweepSeconds) / SCRAPES) * 1000;
    const status = readFileSync(join('/proc', String(child.pid), 'status'), 'utf8');
    const mebibytes = (field: string) => Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
    return { samples, residentMib: mebibytes('VmRSS'), peakMib: mebibytes('VmHWM'), sweepSeconds, scrapeMs };
  } finally {
    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('close', resolve));
  }
}

/** How many samples of the services there are, once that no longer grows. */
async function settledSamples(url: string): Promise<number> {
  let samples = 0;
  for (let settled = 0; settled < SETTLED_LOOKS; ) {
    await sleep(2000);
    const text = await (await fetch(url)).text();
    const now = Number(/^filer_exporter_samples (\d+)/m.exec(text)?.[1]);
    settled = now > 0 && now === samples ? settled + 1 : 0;
    samples = now;
  }
  return samples;
}

/** What a process has used of the processors, in seconds. */
function processorSeconds(pid: number | undefined): number {
  const fields =
    readFileSync(join('/proc', String(pid), 'stat'), 'utf8')
      .split(') ')
      .at(-1)
      ?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_SECONDS;
}

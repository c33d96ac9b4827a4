import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { MockServices } from '../../src/demo/mock-services.ts';

/** The program as `npm run build` makes it, or another build, to compare two. */
export const builtProgram = process.env.PROGRAM ?? fileURLToPath(new URL('../../dist/main.js', import.meta.url));

const REQUESTS_PER_APPLIANCE = 16;
const MIN_INTERVAL_SECONDS = 10;

/** The requests of one sweep over so many appliances. */
export const requestsOf = (appliances: number): number => appliances * REQUESTS_PER_APPLIANCE;

/** Starts a build that asks a portal so often a second, without limits; Linux only. */
export async function startProgram(
  command: readonly string[],
  { credentials, fleet }: MockServices,
  portalUrl: string,
  perSecond: number,
  environment: Readonly<Record<string, string>> = {},
) {
  const seconds = Math.ceil(requestsOf(fleet.appliances.length) / perSecond);
  const child = spawn(process.execPath, command, {
    cwd: tmpdir(),
    env: {
      PATH: process.env.PATH,
      LISTEN_ADDRESS: '127.0.0.1:0',
      PORTAL_URL: portalUrl,
      PORTAL_SERVICE_KEY: credentials.serviceKey,
      PORTAL_SERVICE_SECRET: credentials.serviceSecret,
      PORTAL_RATE_LIMIT: '20000/1s',
      PORTAL_DAILY_LIMIT: '0',
      PORTAL_INTERVAL: `${Math.max(MIN_INTERVAL_SECONDS, seconds)}s`,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  let log = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  while (!/"port":\d+/.test(log)) await sleep(20);
  return { child, pid: child.pid ?? 0, url: `http://127.0.0.1:${/"port":(\d+)/.exec(log)?.[1]}/metrics` };
}

/** The time on a processor of all threads of a process, to the microsecond. */
export function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]));
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

/** What a process has of memory, or had at most, in MiB. */
export function mebibytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createBackfill } from '../../src/app/backfill.ts';
import { type MockServices, startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { loadConfig } from '../support/load-config.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryDispatcher } from '../support/memory-dispatcher.ts';
import { noLog } from '../support/mock-api.ts';
import { root } from '../support/program.ts';
import { listening } from './listening.ts';
import type { Report } from './main.ts';
import { mebibytes } from './program.ts';

/*
 * What thirty days of a fleet cost by `--backfill`. `BACKFILL_APPLIANCES=4 npm run bench -- history` makes it short: with 100
 * it writes and reads some 20 GB of text, compressed on the disk.
 */

const DAYS = 30;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const { signal } = new AbortController();

export async function backfilling(report: Report): Promise<void> {
  const appliances = Number(process.env.BACKFILL_APPLIANCES ?? 100);
  const place = `history.backfill_${DAYS}d_${appliances}_appliances`;
  await pacing(report, place, appliances);
  await bytes(report, place, appliances);
}

/** The pacing, in simulated time: every answer is empty. */
async function pacing(report: Report, place: string, appliances: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-backfill-'));
  const clock = new ManualClock();
  const standIn = await startMockServices({ clock, appliances, variations: { rateLimit: null, dailyLimit: null } });
  const answers = serving(standIn, () => Promise.resolve('{"items":[]}'));
  const config = loadConfig({
    environment: { PORTAL_URL: standIn.portalUrl, PORTAL_USER_KEY: standIn.credentials.userKey },
  });
  const versions = { version: '0', revision: 'bench', nodeVersion: process.version };
  const run = await clock.through(
    createBackfill(
      config,
      { clock, random: () => 0.5, log: noLog, connect: () => new MemoryDispatcher(answers), ...versions },
      {
        // An hour less: what is older than thirty days by the end is not asked for.
        sinceMs: DAYS * DAY_MS - 3_600_000,
        untilMs: 0,
        labels: {},
        filers: undefined,
        series: undefined,
        share: 0.5,
        folder: join(folder, 'work'),
      },
      signal,
    ),
    1,
  );
  await clock.through(run.backfill.run(run.tasks, signal), 1);
  report(`${place}.requests`, run.requests().responded, 'requests');
  report(`${place}.paced`, clock.monotonic() / MINUTE_MS, 'min');
  await clock.through(run.close(signal), 1);
  await standIn.close();
  await rm(folder, { recursive: true });
}

/** The bytes, for real: the built program as a process of its own, without limits. Linux only. */
async function bytes(report: Report, place: string, appliances: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-backfill-'));
  const work = join(folder, 'work');
  const limits = { rateLimit: null, dailyLimit: null };
  const standIn = await startMockServices({ clock: systemClock, appliances, variations: limits });
  const { origin } = new URL(standIn.portalUrl);
  const server = createServer(serving(standIn, kept(standIn)));
  const url = await listening(server);
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  const since = `${DAYS * 24 - 1}h`;
  const child = spawn(
    process.execPath,
    [
      'dist/main.js',
      ...`--backfill --since ${since} --limit-share 100% --work-dir ${work} --labels job=filer-exporter`.split(' '),
    ],
    {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        PORTAL_URL: standIn.portalUrl.replace(origin, url),
        PORTAL_USER_KEY: standIn.credentials.userKey,
        PORTAL_RATE_LIMIT: '20000/1s',
        PORTAL_DAILY_LIMIT: '0',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const exit = once(child, 'exit');
  let [text, lines, readSeconds, folderBytes] = [0, 0, 0, 0];
  let resident = 0;
  const watching = setInterval(() => {
    if (child.exitCode === null) resident = Math.max(resident, mebibytes(child.pid ?? 0, 'VmHWM'));
  }, 200);
  for await (const piece of child.stdout as AsyncIterable<Buffer>) {
    if (text === 0) {
      readSeconds = seconds();
      folderBytes = readdirSync(work).reduce((sum, name) => sum + statSync(join(work, name)).size, 0);
    }
    text += piece.length;
    for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1;
  }
  const [code] = await exit;
  clearInterval(watching);
  if (code !== 0) throw new Error(`--backfill ended with ${code}`);
  report(`${place}.points`, lines, 'points');
  report(`${place}.read`, lines / readSeconds, 'points/s');
  report(`${place}.text`, text / 2 ** 20, 'MiB');
  report(`${place}.printed`, text / 2 ** 20 / (seconds() - readSeconds), 'MiB/s');
  report(`${place}.work_folder`, folderBytes / 2 ** 20, 'MiB');
  report(`${place}.most_resident`, resident, 'MiB');
  server.close();
  await standIn.close();
  await rm(folder, { recursive: true });
}

type Answer = (operation: string, body: string, request: IncomingMessage) => Promise<string>;

/** The stand-in, but for series of appliances. */
function serving(standIn: MockServices, answer: Answer): (request: IncomingMessage, response: ServerResponse) => void {
  return async (request, response) => {
    const [, operation] = /\/telemetry\/appliances\/[^/]+\/(\w+)$/.exec(request.url ?? '') ?? [];
    if (operation === undefined) return standIn.serve(request, response);
    let body = '';
    for await (const chunk of request) body += String(chunk);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(await answer(operation, body, request));
  };
}

/** One appliance's answers are kept for all, since making them costs more than reading them. */
function kept(standIn: MockServices): Answer {
  const answers = new Map<string, Promise<string>>();
  const [first] = standIn.fleet.appliances;
  return (operation, body, request) => {
    const key = operation + body;
    const known = answers.get(key) ?? fetched(standIn, `${first?.serial}/${operation}`, request, body);
    answers.set(key, known);
    return known;
  };
}

async function fetched(
  standIn: MockServices,
  path: string,
  { headers }: IncomingMessage,
  body: string,
): Promise<string> {
  const answer = await fetch(`${standIn.portalUrl}/telemetry/appliances/${path}`, {
    method: 'POST',
    body,
    headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
  });
  return answer.text();
}

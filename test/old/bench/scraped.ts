import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { portOf } from '../support/listening.ts';
import type { Report } from './main.ts';
import { builtProgram, mebibytes, processorMs, requestsOf, startProgram } from './program.ts';
import type { Order, Scraped } from './scrape-client.ts';

/*
 * What a scrape of a running fleet costs, by fleet, pace of the polls and time between two scrapes. The built program and
 * the scraper are processes of their own; Linux only. `PROGRAM=/path/to/main.js` measures another build, `FLEETS=230` takes
 * other fleets, and `SCRAPES=10` more scrapes.
 *
 * No one waits for a minute: the answers of a minute are let through at once, and then, during the scrape, as many as the
 * pace allows.
 */

const fleets = (process.env.FLEETS ?? '230,1000,2000').split(',').map(Number);

/** Answers a second: what the daily limit of the defaults comes to, and a service that allows more. */
const PACES: readonly (readonly [name: string, perSecond: number])[] = [
  ['default quota', 1_000_000 / 86_400],
  ['50 a second', 50],
];
const EVERY_SECONDS = [15, 60];

/** Scrapes of each kind in each case. */
const SCRAPES = Number(process.env.SCRAPES ?? '3');

/** The longest turn of the program's event loop since it was last asked, in milliseconds, told by the program itself. */
const PROBE = `import { monitorEventLoopDelay } from 'node:perf_hooks';
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('message', () => { process.send(delay.max / 1e6 - 1); delay.reset(); });`;

/** Lets so many answers a second pass. */
class Gate {
  perSecond = Number.POSITIVE_INFINITY;
  passed = 0;
  readonly #waiting: (() => void)[] = [];
  #allowed = 0;

  constructor() {
    setInterval(() => {
      this.#allowed = Math.min(this.#allowed + this.perSecond / 50, Math.max(1, this.perSecond / 50));
      while (this.#allowed >= 1 && this.#waiting.length > 0) {
        this.#allowed -= 1;
        this.#waiting.shift()?.();
      }
    }, 20).unref();
  }

  async pass(): Promise<void> {
    if (this.perSecond !== Number.POSITIVE_INFINITY) {
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
    this.passed += 1;
  }
}

export async function scraped(report: Report): Promise<void> {
  const client = fork(fileURLToPath(new URL('scrape-client.ts', import.meta.url)), [], {
    execArgv: ['--import', 'tsx'],
  });
  for (const appliances of fleets) {
    const program = await start(appliances, client);
    try {
      await program.passes(requestsOf(appliances));
      await ofFleet(report, `scraped/${appliances} appliances`, program);
    } finally {
      await program.stop();
    }
  }
  client.disconnect();
}

type Program = Awaited<ReturnType<typeof start>>;

async function ofFleet(report: Report, place: string, program: Program): Promise<void> {
  const first = await program.scrape(true, true);
  report(`${place}/samples`, first.samples, 'samples');
  report(`${place}/first gzip`, first.ms, 'ms');
  report(`${place}/first gzip, bytes`, first.bytes, 'bytes');
  report(`${place}/first gzip, bytes to one call of zlib`, first.bytes / first.bytesOfOneCall, 'ratio');
  // Warm, as a program that runs for months.
  for (let time = 0; time < 6; time += 1) await program.scrape(time % 2 === 0, false);
  for (const [pace, perSecond] of PACES) {
    for (const seconds of EVERY_SECONDS) {
      await atPace((figure, value, unit) => report(`${place}, ${pace}, every ${seconds} s/${figure}`, value, unit), {
        program,
        perSecond,
        seconds,
      });
    }
  }
}

interface Pace {
  readonly program: Program;
  readonly perSecond: number;
  /** Between two scrapes. */
  readonly seconds: number;
}

async function atPace(report: Report, { program, perSecond, seconds }: Pace): Promise<void> {
  const scrapes = { gzip: [] as Scraped[], plain: [] as Scraped[] };
  const stalls: number[] = [];
  const resident: number[] = [];
  const before = program.processor();
  for (let time = 0; time < 2 * SCRAPES; time += 1) {
    program.gate.perSecond = Number.POSITIVE_INFINITY;
    await program.passes(perSecond * seconds);
    program.gate.perSecond = perSecond;
    await sleep(300);
    await program.stall();
    const isPacked = time % 2 === 0;
    scrapes[isPacked ? 'gzip' : 'plain'].push(await program.scrape(isPacked, time === 2 * SCRAPES - 2));
    stalls.push(await program.stall());
    resident.push(program.resident());
  }
  for (const [format, all] of Object.entries(scrapes)) {
    report(format, middle(all.map(({ ms }) => ms)), 'ms');
    report(`${format}, processor`, middle(all.map(({ processorMs: used }) => used)), 'ms');
  }
  const each = (program.processor() - before) / (2 * SCRAPES);
  report('processor from scrape to scrape, polls included', each, 'ms');
  const { bytes, bytesOfOneCall, joinMs, compressMs } = scrapes.gzip.at(-1) as Scraped;
  const least = (all: readonly Scraped[]) => Math.min(...all.map(({ processorMs: used }) => used));
  report('gzip, bytes', bytes, 'bytes');
  report('gzip, bytes to one call of zlib', bytes / bytesOfOneCall, 'ratio');
  report('gzip, processor to joining and one call of zlib', least(scrapes.gzip) / (joinMs + compressMs), 'ratio');
  report('plain, processor less 10 ms to joining', (least(scrapes.plain) - 10) / joinMs, 'ratio');
  report('longest stall in a scrape', Math.max(...stalls), 'ms');
  report('resident', middle(resident), 'MiB');
}

/** The median. */
function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Starts the build with mock services and a gate of its own. */
async function start(appliances: number, client: ChildProcess) {
  const limits = { rateLimit: null, dailyLimit: null };
  const mocks = await startMockServices({ clock: systemClock, appliances, volumes: 5, variations: limits });
  const gate = new Gate();
  const service = createServer(async (request, response) => {
    await gate.pass();
    mocks.serve(request, response);
  });
  const probed = ['--import', `data:text/javascript,${encodeURIComponent(PROBE)}`, builtProgram];
  const url = `http://127.0.0.1:${await portOf(service)}/portal`;
  const program = await startProgram(probed, mocks, url, 400, { STALE_AFTER: '1000' });
  const { child, pid } = program;
  return {
    gate,
    /** Resolves when so many answers have passed. */
    passes: async (answers: number): Promise<void> => {
      const until = gate.passed + answers;
      while (gate.passed < until) await sleep(10);
    },
    scrape: async (gzip: boolean, compares: boolean): Promise<Scraped> => {
      const order: Order = { url: program.url, pid, gzip, compares };
      client.send(order);
      return (await once(client, 'message'))[0] as Scraped;
    },
    stall: async (): Promise<number> => {
      child.send('stall');
      return (await once(child, 'message'))[0] as number;
    },
    processor: () => processorMs(pid),
    resident: () => mebibytes(pid, 'VmRSS'),
    stop: async (): Promise<void> => {
      gate.perSecond = Number.POSITIVE_INFINITY;
      child.kill('SIGTERM');
      await once(child, 'close');
      service.closeAllConnections();
      service.close();
      await mocks.close();
    },
  };
}

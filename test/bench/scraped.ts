import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { listening } from './listening.ts';
import type { Report } from './main.ts';
import { mebibytes, processorMs, requestsOf, startProgram } from './program.ts';
import type { Order, Scraped } from './scrape-client.ts';
import { middle, trees } from './scraping.ts';

/*
 * What a scrape of a running fleet costs, by fleet, pace of the polls and time between two scrapes. The built program and
 * the scraper are processes of their own; Linux only. `BEFORE=/path/to/tree` runs the build of another tree beside this one,
 * scrape by scrape in turns; `FLEETS=230` takes other fleets, `SCRAPES=10` more scrapes.
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
    const programs = await Promise.all(
      trees.map(([name, root]) => start(name, `${root}dist/main.js`, appliances, client)),
    );
    try {
      await Promise.all(programs.map((program) => program.passes(requestsOf(appliances))));
      await ofFleet(report, `scraped/${appliances} appliances`, programs);
    } finally {
      await Promise.all(programs.map((program) => program.stop()));
    }
  }
  client.disconnect();
}

type Program = Awaited<ReturnType<typeof start>>;

async function ofFleet(report: Report, place: string, programs: readonly Program[]): Promise<void> {
  for (const program of programs) {
    const first = await program.scrape(true, true);
    report(`${place}/samples/${program.name}`, first.samples, 'samples');
    report(`${place}/first gzip/${program.name}`, first.ms, 'ms');
    report(`${place}/first gzip, bytes/${program.name}`, first.bytes, 'bytes');
    report(
      `${place}/first gzip, bytes to one call of zlib/${program.name}`,
      first.bytes / first.bytesOfOneCall,
      'ratio',
    );
    // Warm, as a program that runs for months.
    for (let time = 0; time < 6; time += 1) await program.scrape(time % 2 === 0, false);
  }
  for (const [pace, perSecond] of PACES) {
    for (const seconds of EVERY_SECONDS) {
      const found = new Map(
        programs.map(({ name }) => [
          name,
          { gzip: [] as Scraped[], plain: [] as Scraped[], stalls: [0], resident: [0] },
        ]),
      );
      const used = new Map(programs.map(({ name, processor }) => [name, processor()]));
      for (let time = 0; time < 2 * SCRAPES; time += 1) {
        for (const program of programs) program.gate.perSecond = Number.POSITIVE_INFINITY;
        await Promise.all(programs.map((program) => program.passes(perSecond * seconds)));
        for (const program of programs) program.gate.perSecond = perSecond;
        await sleep(300);
        for (const program of programs) {
          const is = found.get(program.name);
          await program.stall();
          const one = await program.scrape(time % 2 === 0, time === 2 * SCRAPES - 2);
          is?.stalls.push(await program.stall());
          is?.resident.push(program.resident());
          is?.[time % 2 === 0 ? 'gzip' : 'plain'].push(one);
        }
      }
      for (const [name, { gzip, plain, stalls, resident }] of found) {
        const of = (figure: string) => `${place}, ${pace}, every ${seconds} s/${figure}/${name}`;
        report(of('gzip'), middle(gzip.map(({ ms }) => ms)), 'ms');
        report(of('gzip, processor'), middle(gzip.map(({ processorMs }) => processorMs)), 'ms');
        report(of('plain'), middle(plain.map(({ ms }) => ms)), 'ms');
        report(of('plain, processor'), middle(plain.map(({ processorMs }) => processorMs)), 'ms');
        const processor = programs.find((program) => program.name === name)?.processor() ?? 0;
        const each = (processor - (used.get(name) ?? 0)) / (2 * SCRAPES);
        report(of('processor from scrape to scrape, polls included'), each, 'ms');
        const last = gzip.at(-1);
        report(of('gzip, bytes to one call of zlib'), (last?.bytes ?? 0) / (last?.bytesOfOneCall ?? 0), 'ratio');
        const { joinMs = 0, compressMs = 0 } = last ?? {};
        const least = (scrapes: readonly Scraped[]) => Math.min(...scrapes.map(({ processorMs }) => processorMs));
        report(of('gzip, processor to joining and one call of zlib'), least(gzip) / (joinMs + compressMs), 'ratio');
        report(of('plain, processor less 10 ms to joining'), (least(plain) - 10) / joinMs, 'ratio');
        report(of('gzip, bytes'), last?.bytes ?? 0, 'bytes');
        report(of('longest stall in a scrape'), Math.max(...stalls), 'ms');
        report(of('resident'), middle(resident.slice(1)), 'MiB');
      }
    }
  }
}

/** Starts a build with mock services and a gate of its own. */
async function start(name: string, main: string, appliances: number, client: ChildProcess) {
  const limits = { rateLimit: null, dailyLimit: null };
  const mocks = await startMockServices({ clock: systemClock, appliances, volumes: 5, variations: limits });
  const gate = new Gate();
  const service = createServer(async (request, response) => {
    await gate.pass();
    mocks.serve(request, response);
  });
  const probed = ['--import', `data:text/javascript,${encodeURIComponent(PROBE)}`, main];
  const url = `${await listening(service)}/portal`;
  const program = await startProgram(probed, mocks, url, 400, { STALE_AFTER: '1000' });
  const { child, pid } = program;
  return {
    name,
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

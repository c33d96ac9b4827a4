// Only here: a process that is started without what it needs.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startStandIn } from '../../src/demo/stand-in.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { get, gfaEnvironment, portalEnvironment, scrape } from '../support/live.ts';
import { hasLimits, namespaces, onlyIpv6, within } from '../support/machine.ts';
import { run, start, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';

/* The program as a process where something is missing or wrong from its start. */

async function stand(appliances = 2, port = 0, variations = {}) {
  const standIn = await startStandIn({ clock: systemClock, appliances, volumes: 2, port, variations });
  onTestFinished(() => standIn.close());
  return { standIn, environment: { ...gfaEnvironment(standIn), ...portalEnvironment(standIn) } };
}

const bothUp = async (url: string) => {
  const { value } = await scrape(url).then((one) => ({ value: one.value.bind(one) }));
  return value('filer_api_up', { api: 'gfa' }) === 1 && value('filer_api_up', { api: 'portal' }) === 1;
};

const MEBIBYTE = 1024 * 1024;

const quick = { GFA_INTERVAL: '1s', PORTAL_INTERVAL: '1s' };

test.runIf(process.env.REQUIRE_LINUX)('prlimit is there, as REQUIRE_LINUX asks', () => {
  expect(hasLimits).toBe(true);
});

test.runIf(process.env.REQUIRE_NAMESPACES)('a network of its own can be had, as REQUIRE_NAMESPACES asks', () => {
  expect(namespaces.network).toBe(true);
});

/** A server on any free port, and its connections with it, until the test is over. */
async function listening(server: Server): Promise<{ readonly port: number; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket.on('error', () => {})));
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  onTestFinished(close);
  return { port: (server.address() as AddressInfo).port, close };
}

describe('it starts and serves', () => {
  test('while both services are down, and polls them as soon as they are there', async () => {
    const first = await stand();
    const port = Number(new URL(first.standIn.portalUrl).port);
    await first.standIn.close();
    const program = start([], { environment: { ...first.environment, ...quick } });
    const url = await program.serving();
    await until('the first polls to have failed', async () => (await get(`${url}/readyz`)).status === 200);
    expect((await scrape(url)).value('filer_api_up', { api: 'portal' })).toBe(0);
    await stand(2, port);
    await until('both to be up', () => bothUp(url));
    expect(program.child.exitCode).toBeNull();
  });

  test('while both services take connections and say nothing, and polls them as soon as they do', async () => {
    const { standIn, environment } = await stand();
    await standIn.close();
    const silent = await listening(createServer(() => {}));
    const portOf = (url: string) => url.replace(/:\d+/, `:${silent.port}`);
    const urls = { GFA_URL: portOf(standIn.gfaUrl), PORTAL_URL: portOf(standIn.portalUrl) };
    const program = start([], { environment: { ...environment, ...quick, ...urls, REQUEST_TIMEOUT: '300ms' } });
    const url = await program.serving();
    await until('the first polls to have failed', async () => (await get(`${url}/readyz`)).status === 200);
    const before = await scrape(url);
    expect(before.value('filer_api_up', { api: 'portal' })).toBe(0);
    expect(before.sum('filer_exporter_requests_total', { code: 'timeout' })).toBeGreaterThan(1);
    await silent.close();
    await stand(2, silent.port);
    await until('both to be up', () => bothUp(url));
    expect(program.child.exitCode).toBeNull();
  });

  test.each(['ENOTFOUND', 'EAI_AGAIN'])(
    'while no name resolves (%s), and polls as soon as they do',
    async (code) => {
      const { standIn, environment } = await stand();
      const file = join(temporaryDirectory(), 'resolver');
      writeFileSync(file, `service.test ${code}`);
      const named = (url: string) => url.replace('127.0.0.1', 'service.test');
      const program = start([], {
        environment: {
          ...{ ...environment, ...quick, RESOLVER_FILE: file, ALLOW_INSECURE_UPSTREAM: 'true' },
          ...{ GFA_URL: named(standIn.gfaUrl), PORTAL_URL: named(standIn.portalUrl) },
          NODE_OPTIONS: `--import=${fileURLToPath(new URL('../support/resolver.mjs', import.meta.url))}`,
        },
      });
      const url = await program.serving();
      await until('the first polls to have failed', async () => (await get(`${url}/readyz`)).status === 200);
      expect((await scrape(url)).value('filer_api_up', { api: 'portal' })).toBe(0);
      await until('the log to say so', () => program.stdout.includes(code));
      writeFileSync(file, '');
      await until('both to be up', () => bothUp(url));
      expect(program.child.exitCode).toBeNull();
    },
    30_000,
  );

  test.each([
    ['in 1970', '86_400_000'],
    ['a century ahead', 'now() + 3_155_760_000_000'],
    ['jumping back and forth by a day at every look', 'now() + (jump = -jump)'],
  ])(
    'with a clock that is %s, until it is set right and after',
    async (name, time) => {
      const [preload, right] = ['clock.mjs', 'right'].map((file) => join(temporaryDirectory(), file)) as [
        string,
        string,
      ];
      writeFileSync(
        preload,
        `import { existsSync } from 'node:fs';
      const now = Date.now;
      let [jump, isRight] = [86_400_000, false];
      Date.now = () => ((isRight ||= existsSync(${JSON.stringify(right)})) ? now() : ${time});
      void jump;`,
      );
      const { environment, standIn } = await stand();
      const counting = { PORTAL_COLLECTORS: 'telemetry,volumes=1s,notifications=1s,volume_telemetry=1s' };
      const program = start([], {
        environment: { ...environment, ...quick, ...counting, NODE_OPTIONS: `--import=${preload}` },
      });
      const url = await program.serving();
      await until('both to be up', () => bothUp(url));
      const polls = (of: string) =>
        standIn.requests.filter(({ operation, status }) => operation === of && status === 200).length;
      const further = async (of: string) => {
        const before = polls(of);
        await until(`further polls of ${of}`, () => polls(of) > before + 4);
      };
      await further('cpu_utilization');
      await further('snapshot_details');
      expect(await bothUp(url)).toBe(true);
      writeFileSync(right, '');
      await further('snapshot_details');
      await further('notifications');
      const scraped = await scrape(url);
      expect(await bothUp(url), program.stdout.slice(-2_000)).toBe(true);
      expect(standIn.requests.filter(({ operation }) => operation === 'token')).toHaveLength(1);
      expect(scraped.all('filer_snapshots_total').length).toBeGreaterThan(0);
      // What was before the start counts for nothing, and in some seconds little happens. A clock that says yesterday at one
      // look and tomorrow at the next leaves nobody to say when the start was.
      if (name.startsWith('jumping')) return;
      expect(scraped.sum('filer_snapshots_total')).toBeLessThan(5);
      expect(scraped.sum('filer_notifications_by_severity_total')).toBeLessThan(5);
    },
    60_000,
  );

  test('on an IPv6 address alone, and reaches its services over IPv6', async () => {
    const { environment, standIn } = await stand();
    const sockets = new Set<Socket>();
    const relay = createServer((socket) => {
      const onward = connect(Number(new URL(standIn.portalUrl).port), '127.0.0.1');
      for (const end of [socket, onward]) {
        sockets.add(end);
        end.on('error', () => {});
      }
      socket.pipe(onward).pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen({ host: '::1', port: 0 }, resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    });
    const { port } = relay.address() as AddressInfo;
    const over6 = (url: string) => url.replace(/127\.0\.0\.1:\d+/, `[::1]:${port}`);
    const program = start([], {
      environment: {
        ...environment,
        GFA_URL: over6(standIn.gfaUrl),
        PORTAL_URL: over6(standIn.portalUrl),
        LISTEN_ADDRESS: '[::1]:0',
      },
    });
    const served = (await program.serving()).replace('127.0.0.1', '[::1]');
    await until('both to be up', () => bothUp(served));
    await expect(get(`${served.replace('[::1]', '127.0.0.1')}/healthz`)).rejects.toThrow();
  });

  test.runIf(namespaces.network)('on a machine that has IPv6 and nothing else', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'probe.mjs');
    writeFileSync(path, "const { status } = await fetch('http://[::1]:9989/healthz'); console.log('status', status);");
    const program = start([], {
      directory,
      environment: { GFA_URL: 'http://[::1]:9/v1', GFA_TOKEN: 'x', LISTEN_ADDRESS: ':9989' },
      through: onlyIpv6,
    });
    await program.serving();
    const inside = ['-t', String(program.child.pid), '-n', process.execPath, path];
    expect(execFileSync('nsenter', inside, { encoding: 'utf8' })).toBe('status 200\n');
  });

  test.runIf(hasLimits)(
    'with very few file descriptors: without any left it goes on, and polls and saves again when there are some',
    async () => {
      const first = await stand(8);
      const { port: upstream } = new URL(first.standIn.portalUrl);
      const state = join(temporaryDirectory(), 'state');
      const program = start([], {
        environment: { ...first.environment, ...quick, PORTAL_CONCURRENCY: '8', STATE_FILE: state },
        through: ['prlimit', '--nofile=96:96'],
      });
      const url = await program.serving();
      await until('both to be up', () => bothUp(url));
      const held: Socket[] = [];
      const letGo = () => {
        for (const socket of held.splice(0)) socket.destroy();
      };
      onTestFinished(letGo);
      const port = Number(new URL(url).port);
      const takeAll = () => {
        for (let one = 0; one < 120; one += 1) {
          const socket = connect(port, '127.0.0.1').on('error', () => {});
          socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
          held.push(socket);
        }
      };
      // A connection that is there already needs no descriptor more.
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      onTestFinished(() => agent.destroy());
      await textOf(`${url}/api/v1/status`, agent);
      takeAll();
      await until('as many to be answered as there is room for', () => {
        return held.filter((socket) => socket.bytesRead > 0).length > 30;
      });
      const unsaved = await until('the state to find no descriptor', () => {
        return program.log.find(({ msg }) => msg.includes('state file not written'));
      });
      expect(unsaved).toMatchObject({ err: { message: expect.stringContaining('EMFILE') } });
      // The connections to the services are gone, and new ones take descriptors.
      await first.standIn.close();
      takeAll();
      await stand(8, Number(upstream));
      await until('the polls to find none either', async () => {
        return (await textOf(`${url}/api/v1/status`, agent)).includes('got no answer: EMFILE');
      });
      letGo();
      await until('both to be up again', () => bothUp(url));
      await until('the state to be saved again', () =>
        program.log.some(({ msg }) => msg.includes('state file written again')),
      );
      expect(program.child.exitCode).toBeNull();
      program.kill('SIGTERM');
      expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
      expect(readFileSync(state, 'utf8')).toContain('filer-exporter state');
    },
    60_000,
  );

  test.runIf(existsSync('/proc/self/status'))(
    'within 128 MiB with a hundred appliances and every series of theirs',
    async () => {
      const { environment, standIn } = await stand(100, 0, { rateLimit: null, dailyLimit: null });
      const { through, heap } = within(128);
      const limits = { PORTAL_RATE_LIMIT: '30000/30s', PORTAL_DAILY_LIMIT: '0', PORTAL_INTERVAL: '10s' };
      const program = start([], {
        environment: {
          ...{ ...environment, ...limits, ...heap },
          ...{ PORTAL_SERIES: 'all,appliance_health_score=10s', GFA_INTERVAL: '2s' },
        },
        through,
      });
      const url = await program.serving();
      const series = () => new Set(standIn.requests.map(({ path }) => path)).size;
      let most = 0;
      const held = () => {
        // The kernel's count of what cannot be given back; pages of files come and go with the limit.
        const status = readFileSync(`/proc/${program.child.pid}/status`, 'utf8');
        const now = Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
        most = Math.max(most, now);
        return now;
      };
      await until('every series to have been polled', () => held() > 0 && series() > 2_200, 60_000);
      for (let scraped = 0; scraped < 20; scraped += 1) {
        await gzipped(`${url}/metrics`);
        held();
      }
      const seen = await scrape(url);
      expect(seen.sum('filer_exporter_requests_total', { code: 'oversize' })).toBe(0);
      await until('both to be up', () => bothUp(url));
      expect(held()).toBeLessThan(110 * MEBIBYTE);
      expect(most).toBeLessThan(128 * MEBIBYTE);
      program.kill('SIGTERM');
      expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
    },
    90_000,
  );
});

describe('it does not start, and says why', () => {
  test.each([
    ['on an address that is not this machine’s', '192.0.2.1:9989', 'EADDRNOTAVAIL'],
    ['on a name that nobody knows', 'nowhere.invalid:9989', 'ENOTFOUND|EAI_AGAIN'],
  ])('%s', async (_, address, code) => {
    const environment = { GFA_URL: 'http://127.0.0.1:9/v1', GFA_TOKEN: 'x', LISTEN_ADDRESS: address };
    const ended = await run([], { environment });
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expect(ended.stderr).toMatch(
      new RegExp(`^listening on ${address}: .*(?:${code}).*; choose another .*LISTEN_ADDRESS\n$`),
    );
  });
});

function textOf(url: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent }, (answer) => {
      answer.toArray().then((chunks) => resolve(Buffer.concat(chunks).toString()), reject);
    });
    asked.on('error', reject).end();
  });
}

function gzipped(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) =>
      answer.on('end', resolve).resume(),
    );
    asked.on('error', reject);
    asked.end();
  });
}

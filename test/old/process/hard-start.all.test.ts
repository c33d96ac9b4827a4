// Only here: a process that is started without what it needs.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hasLimits, namespaces, onlyIpv6, within } from '../support/machine.ts';
import { run, start, temporaryDirectory } from '../support/program.ts';
import { realServices } from '../support/real-services.ts';
import { get, scrape } from '../support/scrape.ts';
import { until } from '../support/until.ts';

const bothUp = async (url: string) => (await scrape(url)).sum('filer_api_up') === 2;

const quick = { GFA_INTERVAL: '1s', PORTAL_INTERVAL: '1s' };

test.runIf(process.env.REQUIRE_LINUX)('prlimit is there, as REQUIRE_LINUX asks', () => {
  expect(hasLimits).toBe(true);
});

test.runIf(process.env.REQUIRE_NAMESPACES)('a network of its own can be had, as REQUIRE_NAMESPACES asks', () => {
  expect(namespaces.network).toBe(true);
});

describe('it starts and serves', () => {
  test('while both services are down, and polls them as soon as they are there', async () => {
    const first = await realServices();
    const port = Number(new URL(first.mocks.portalUrl).port);
    await first.mocks.close();
    const program = start([], { environment: { ...first.environment, ...quick } });
    const url = await program.serving();
    await until('the first polls to have failed', async () => (await get(`${url}/readyz`)).status === 200);
    expect((await scrape(url)).value('filer_api_up', { api: 'portal' })).toBe(0);
    await realServices({ port });
    await until('both to be up', () => bothUp(url));
    expect(program.child.exitCode).toBeNull();
  });

  test('on an IPv6 address alone, and reaches its services over IPv6', async () => {
    const { environment, mocks } = await realServices();
    const sockets = new Set<Socket>();
    const relay = createServer((socket) => {
      const onward = connect(Number(new URL(mocks.portalUrl).port), '127.0.0.1');
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
        GFA_URL: over6(mocks.gfaUrl),
        PORTAL_URL: over6(mocks.portalUrl),
        LISTEN_ADDRESS: '[::1]:0',
      },
    });
    const served = (await program.serving()).replace('127.0.0.1', '[::1]');
    await until('both to be up', () => bothUp(served));
    // Another program of these tests may have the same port of 127.0.0.1.
    await expect(get(`${served.replace('[::1]', '127.0.0.2')}/healthz`)).rejects.toThrow();
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
    'with very few file descriptors: without any left it goes on and saves, and polls again when there are some',
    async () => {
      const first = await realServices({ appliances: 8 });
      const { port: upstream } = new URL(first.mocks.portalUrl);
      const state = join(temporaryDirectory(), 'state');
      const environment = { ...first.environment, ...quick, PORTAL_CONCURRENCY: '8', STATE_FILE: state };
      const program = start([], { environment });
      const url = await program.serving();
      // The limit comes after the start, because Node.js 20 needs hundreds of descriptors to load the modules.
      execFileSync('prlimit', ['--pid', String(program.child.pid), '--nofile=96:96']);
      await until('both to be up', () => bothUp(url));
      const held: Socket[] = [];
      const letGo = () => {
        for (const socket of held.splice(0)) socket.destroy();
      };
      onTestFinished(letGo);
      const port = Number(new URL(url).port);
      // A connection is closed after its response, and after ten seconds without a request.
      const takeAll = () => {
        if (readdirSync(`/proc/${program.child.pid}/fd`).length >= 95) return true;
        for (let one = 0; one < 120; one += 1) {
          const socket = connect(port, '127.0.0.1').on('error', () => {});
          socket.write('GET /healthz HTTP/1.1\r\n');
          held.push(socket);
        }
        return false;
      };
      await until('no descriptor to be left', takeAll);
      // The connections to the services are gone, and a new one takes a descriptor, if only until it is refused.
      await first.mocks.close();
      await until('the polls to find none either', () => takeAll() && program.stdout.includes('EMFILE'));
      await realServices({ appliances: 8, port: Number(upstream) });
      letGo();
      await until('both to be up again', () => bothUp(url));
      // Its file is open all the time.
      expect(program.log.map(({ msg }) => msg)).not.toContainEqual(expect.stringContaining('state file cannot'));
      expect(program.child.exitCode).toBeNull();
      program.kill('SIGTERM');
      expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
      expect(readFileSync(state, 'utf8')).toContain('filer-exporter state');
    },
  );

  test.runIf(existsSync('/proc/self/status'))(
    'within 128 MiB with a hundred appliances and every series of theirs',
    async () => {
      const { environment, mocks } = await realServices({
        appliances: 100,
        variations: { rateLimit: null, dailyLimit: null },
      });
      const { through, heap } = within(128);
      const limits = { PORTAL_RATE_LIMIT: '30000/30s', PORTAL_DAILY_LIMIT: '0', PORTAL_INTERVAL: '10s' };
      const program = start([], {
        environment: {
          ...environment,
          ...limits,
          ...heap,
          PORTAL_SERIES: 'all,appliance_health_score=10s',
          GFA_INTERVAL: '2s',
        },
        through,
      });
      const url = await program.serving();
      const series = () => new Set(mocks.requests.map(({ path }) => path)).size;
      let most = 0;
      const held = () => {
        // The kernel's count of what cannot be given back; pages of files come and go with the limit.
        const status = readFileSync(`/proc/${program.child.pid}/status`, 'utf8');
        const now = Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
        most = Math.max(most, now);
        return now;
      };
      await until('every series to have been polled', () => held() > 0 && series() > 2_100);
      for (let scraped = 0; scraped < 20; scraped += 1) {
        await gzipped(`${url}/metrics`);
        held();
      }
      const seen = await scrape(url);
      expect(seen.sum('filer_exporter_requests_total', { code: 'oversize' })).toBe(0);
      await until('both to be up', () => bothUp(url));
      expect(held()).toBeLessThan(110 * 2 ** 20);
      expect(most).toBeLessThan(128 * 2 ** 20);
      program.kill('SIGTERM');
      expect(await program.ended).toMatchObject({ code: 0, stderr: '' });
    },
  );
});

describe('it does not start, and says why', () => {
  test.each([
    ['on an address that is not this machine’s', '192.0.2.1:9989', 'EADDRNOTAVAIL'],
    ['on a name that nobody knows', 'nowhere.invalid:9989', 'ENOTFOUND|EAI_AGAIN'],
    ['on a port that is taken', undefined, 'EADDRINUSE'],
  ])('%s', async (_, named, code) => {
    const { mocks, environment } = await realServices();
    const address = named ?? new URL(mocks.portalUrl).host;
    const ended = await run([], { environment: { ...environment, LISTEN_ADDRESS: address } });
    expect(mocks.requests).toEqual([]);
    expect([ended.code, ended.stdout]).toEqual([1, '']);
    expect(ended.stderr).toMatch(
      new RegExp(`^listening on ${address}: .*(?:${code}).*; choose another .*LISTEN_ADDRESS\n$`),
    );
  });
});

function gzipped(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { headers: { 'accept-encoding': 'gzip' } }, (answer) =>
      answer.on('end', resolve).resume(),
    );
    asked.on('error', reject);
    asked.end();
  });
}

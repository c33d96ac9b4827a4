import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startStandIn } from '../../src/demo/stand-in.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { get, gfaEnvironment, portalEnvironment, scrape } from '../support/live.ts';
import { run, start, temporaryDirectory } from '../support/program.ts';
import { until } from '../support/until.ts';

/** Where version 1 of the kernel's control groups limits memory. */
const MEMORY_GROUPS = '/sys/fs/cgroup/memory';

/* The program as a process where something is missing or wrong from its start. */

async function stand(appliances = 2, port = 0, variations = {}) {
  const standIn = await startStandIn({ clock: systemClock, appliances, volumes: 2, port, variations });
  onTestFinished(() => standIn.close());
  return { standIn, environment: { ...gfaEnvironment(standIn), ...portalEnvironment(standIn) } };
}

const bothUp = async (url: string) => {
  const { value } = await scrape(url).then((one) => ({ value: one.value.bind(one) }));
  return value('filer_up', { api: 'gfa' }) === 1 && value('filer_up', { api: 'portal' }) === 1;
};

/** What is known to run nowhere but on Linux as root is skipped elsewhere. */
function works(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('it starts and serves', () => {
  test('while both services are down, and polls them as soon as they are there', async () => {
    const first = await stand();
    const port = Number(new URL(first.standIn.portalUrl).port);
    await first.standIn.close();
    const quick = { GFA_INTERVAL: '1s', PORTAL_INTERVAL: '1s' };
    const program = start([], { environment: { ...first.environment, ...quick } });
    const url = await program.serving();
    await until('the first polls to have failed', async () => (await get(`${url}/readyz`)).status === 200);
    expect((await scrape(url)).value('filer_up', { api: 'portal' })).toBe(0);
    await stand(2, port);
    await until('both to be up', () => bothUp(url), 15_000);
    expect(program.child.exitCode).toBeNull();
  }, 30_000);

  test('where the state file cannot be written: one warning, and a count', async () => {
    const { environment } = await stand();
    // Not even root makes files there, so it stands for a disk that only reads.
    const program = start([], { environment: { ...environment, GFA_INTERVAL: '1s', STATE_FILE: '/proc/state.json' } });
    const url = await program.serving();
    await until('some writes to have failed', async () => {
      return ((await scrape(url)).value('filer_exporter_state_file_errors_total', {}) ?? 0) > 2;
    });
    expect(await bothUp(url)).toBe(true);
    expect(program.log.filter(({ level }) => level >= 40)).toHaveLength(1);
    program.kill('SIGTERM');
    expect((await program.ended).code).toBe(0);
  });

  test.each([
    ['in 1970', '() => 86_400_000'],
    ['a century ahead', '() => now() + 3_155_760_000_000'],
    ['that jumps back and forth by a day at every look', '() => now() + (jump = -jump)'],
  ])('with a clock that is %s', async (_, clock) => {
    const preload = join(temporaryDirectory(), 'clock.mjs');
    writeFileSync(preload, `const now = Date.now; let jump = 86_400_000; void jump; Date.now = ${clock};`);
    const { environment, standIn } = await stand();
    const quick = { GFA_INTERVAL: '1s', PORTAL_INTERVAL: '1s', NODE_OPTIONS: `--import=${preload}` };
    const program = start([], { environment: { ...environment, ...quick } });
    const url = await program.serving();
    await until('both to be up', () => bothUp(url));
    const polls = () => standIn.requests.filter(({ operation }) => operation === 'cpu_utilization').length;
    const before = polls();
    await until('further polls', () => polls() > before + 4);
    expect(await bothUp(url)).toBe(true);
    const tokens = standIn.requests.filter(({ operation }) => operation === 'token');
    expect(tokens).toHaveLength(1);
  });

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

  const only6 = 'ip link set lo up && ip addr del 127.0.0.1/8 dev lo';
  test.runIf(works('unshare', '-n', 'sh', '-c', only6))('on a machine that has IPv6 and nothing else', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'probe.mjs');
    writeFileSync(path, "const { status } = await fetch('http://[::1]:9989/healthz'); console.log('status', status);");
    const program = start([], {
      directory,
      environment: { GFA_URL: 'http://[::1]:9/v1', GFA_TOKEN: 'x', LISTEN_ADDRESS: ':9989' },
      through: ['unshare', '-n', 'sh', '-c', `${only6} && exec "$@"`, 'sh'],
    });
    await program.serving();
    const inside = ['-t', String(program.child.pid), '-n', process.execPath, path];
    expect(execFileSync('nsenter', inside, { encoding: 'utf8' })).toBe('status 200\n');
  });

  test.runIf(works('prlimit', '--version'))(
    'with very few file descriptors: what is too many is turned away',
    async () => {
      const { environment } = await stand(8);
      const program = start([], {
        environment: { ...environment, PORTAL_CONCURRENCY: '8' },
        through: ['prlimit', '--nofile=96:96'],
      });
      const url = await program.serving();
      await until('both to be up', () => bothUp(url));
      const port = Number(new URL(url).port);
      const held = Array.from({ length: 120 }, () => connect(port, '127.0.0.1').on('error', () => {}));
      onTestFinished(() => {
        for (const socket of held) socket.destroy();
      });
      for (const socket of held) socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await until('the most of them to be ended or answered', () => {
        return held.filter((socket) => socket.bytesRead > 0 || socket.destroyed).length > 10;
      });
      for (const socket of held) socket.destroy();
      await until(
        'a scrape to be served again',
        async () => (await scrape(url)).value('filer_up', { api: 'gfa' }) === 1,
      );
      expect(program.child.exitCode).toBeNull();
    },
  );

  test.runIf(canLimitMemory())(
    'within 128 MiB with a hundred appliances and every series of theirs',
    async () => {
      const { environment, standIn } = await stand(100, 0, { rateLimit: null, dailyLimit: null });
      const group = mkdtempSync(join(MEMORY_GROUPS, 'filer-exporter-'));
      onTestFinished(() => rmdirSync(group));
      writeFileSync(join(group, 'memory.limit_in_bytes'), String(128 * 1024 * 1024));
      const limits = { PORTAL_RATE_LIMIT: '30000/30s', PORTAL_DAILY_LIMIT: '0', PORTAL_INTERVAL: '10s' };
      const program = start([], {
        environment: { ...environment, ...limits, PORTAL_SERIES: 'all,appliance_health_score=10s', GFA_INTERVAL: '2s' },
        through: ['sh', '-c', `echo $$ > '${group}/cgroup.procs' && exec "$@"`, 'sh'],
      });
      const url = await program.serving();
      const series = () => new Set(standIn.requests.map(({ path }) => path)).size;
      await until('every series to have been polled', () => series() > 2_200, 60_000);
      for (let scraped = 0; scraped < 20; scraped += 1) await gzipped(`${url}/metrics`);
      expect((await scrape(url)).value('filer_up', { api: 'portal' })).toBe(1);
      // The kernel's count of what cannot be given back; pages of files come and go with the limit.
      const status = readFileSync(`/proc/${program.child.pid}/status`, 'utf8');
      expect(Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1])).toBeLessThan(110 * 1024);
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
    expect(ended.code).toBe(1);
    expect(ended.stderr).toMatch(
      new RegExp(`^listening on ${address}: .*(?:${code}).*; choose another .*LISTEN_ADDRESS\n$`),
    );
  });
});

/** Only root makes groups. */

function canLimitMemory(): boolean {
  try {
    rmdirSync(mkdtempSync(join(MEMORY_GROUPS, 'filer-exporter-')));
    return true;
  } catch {
    return false;
  }
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

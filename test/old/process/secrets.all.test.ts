// Only here: a secret in any text of the process: output, page, error, file, report.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { runHere } from '../support/command.ts';
import { type Echo, startEcho } from '../support/echo.ts';
import { servedPort } from '../support/listening.ts';
import { type Program, start, temporaryDirectory } from '../support/program.ts';
import { portalEnvironment } from '../support/real-services.ts';
import { get } from '../support/scrape.ts';
import { until } from '../support/until.ts';

/** Each is a word that nothing else would say, in one of the forms that secrets have. */
const CANARY = {
  gfaToken: '5ec1e7aa-0001-4000-8000-canarygfatok',
  serviceKey: 'canaryKey1',
  // So that any piece of it would be known again.
  serviceSecret: 'canary/canary+canary==',
  userKey: 'user-5ec1e7aa-canary-user-key',
  access: `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"sub":"canary"}').toString('base64url')}.canarySignature`,
  refresh: 'canaryRefreshToken5ec1e7',
  proxy: 'canaryProxyPassword',
} as const;

const PROXY_CREDENTIALS = `visitor:${CANARY.proxy}`;
const CANARIES: readonly string[] = [
  ...Object.values(CANARY),
  encodeURIComponent(CANARY.serviceSecret),
  Buffer.from(PROXY_CREDENTIALS).toString('base64'),
];

describe('no secret is shown', () => {
  test('[secrets-anywhere] by services that repeat what they were sent, at the most talkative log level', async () => {
    const echo = await startEcho({ access_token: CANARY.access, refresh_token: CANARY.refresh, expires_in: 1 });
    const program = start([], {
      environment: { ...gfa(echo), ...portal(echo), ...servicePair, PORTAL_SERIALS: SERIAL },
    });
    const sent = new Set<string>([
      CANARY.gfaToken,
      CANARY.serviceKey,
      encodeURIComponent(CANARY.serviceSecret),
      CANARY.access,
      CANARY.refresh,
    ]);
    const pages = await pagesAfter(program, () => echo.answered > 25 && reached(echo).size === sent.size);
    expect(reached(echo)).toEqual(sent);
    expect(program.stdout).toContain('returned 409');
    expect(found(pages)).toEqual([]);
  });

  test.each([
    ['oauth2', { PORTAL_SERVICE_KEY: CANARY.serviceKey, PORTAL_SERVICE_SECRET: CANARY.serviceSecret }],
    ['service_key', { PORTAL_SERVICE_KEY: CANARY.serviceKey, PORTAL_SERVICE_SECRET: CANARY.serviceSecret }],
    ['user_key', { PORTAL_USER_KEY: CANARY.userKey }],
  ])('when credentials are refused, with %s', async (kind, keys) => {
    const echo = await startEcho(undefined);
    const environment = { ...portal(echo), ...keys, PORTAL_AUTH: kind, LOG_FORMAT: 'pretty' };
    const { code, stdout, stderr } = await runHere(['--once'], { environment });
    expect(code).toBe(1);
    expect(reached(echo).size).toBe(Object.keys(keys).length);
    expect(stderr).toContain('returned 401');
    expect(found([stdout, stderr])).toEqual([]);
  });

  test('by a proxy that rejects it, or is not there', async () => {
    const echo = await startEcho(undefined);
    for (const address of [new URL(echo.origin).host, '127.0.0.1:9']) {
      const environment = {
        ...talkative,
        ALLOW_INSECURE_UPSTREAM: 'true',
        GFA_URL: 'http://acceleration.invalid/v1',
        GFA_TOKEN: CANARY.gfaToken,
        GFA_INTERVAL: '1s',
        PORTAL_URL: 'https://portal.invalid',
        PORTAL_USER_KEY: CANARY.userKey,
        HTTP_PROXY: `http://${PROXY_CREDENTIALS}@${address}`,
        HTTPS_PROXY: `http://${PROXY_CREDENTIALS}@${address}`,
      };
      const { code, stdout, stderr } = await runHere(['--once'], { environment });
      expect(code).toBe(1);
      expect(found([stdout, stderr])).toEqual([]);
    }
    expect(echo.received.some((text) => text.includes('proxy-authorization'))).toBe(true);
  });
});

describe('no secret of one service is shown by another that knows it', () => {
  const phrase = 'correct horse battery';
  const password = 'staple lamp that nobody guesses';
  const tenant = 'mill pond';
  const forms = [phrase, password, tenant].flatMap((text) => [text, encodeURIComponent(text), base64(text)]);
  const pair = base64(`writer:${password}`);

  test.each([
    ['basic auth', { REMOTE_WRITE_USER: 'writer', REMOTE_WRITE_PASSWORD: password }],
    ['a token', { REMOTE_WRITE_TOKEN: password }],
  ])('[repeated-secrets] neither in the log nor on a page, with %s', async (_, credentials) => {
    const gossip = await startGossip(JSON.stringify([password.repeat(100), ...forms, pair, `Bearer ${password}`]));
    const mocks = await startMockServices({ clock: systemClock, appliances: 2 });
    onTestFinished(() => mocks.close());
    const program = start([], {
      environment: {
        ...portalEnvironment(mocks),
        PORTAL_INTERVAL: '1s',
        ...talkative,
        ALLOW_INSECURE_UPSTREAM: 'true',
        GFA_URL: `${gossip.origin}/v1`,
        GFA_TOKEN: phrase,
        GFA_INTERVAL: '1s',
        REMOTE_WRITE_URL: `${gossip.origin}/write`,
        REMOTE_WRITE_HEADERS: `X-Scope=${tenant}`,
        ...credentials,
      },
    });
    const told = () => gossip.paths.has('/write') && gossip.paths.has('/v1/data');
    const pages = await pagesAfter(program, told);
    expect(program.stdout).toMatch(/returned 403: .*\[…\]/);
    expect(program.stdout).toMatch(/"response":"403: .*remote write/);
    expect(found(pages, [...forms, pair, password.slice(0, 8)])).toEqual([]);
  });
});

describe('no secret is shown beyond what the program itself says', () => {
  test('by what Node says of its own work when it is asked to', async () => {
    const echo = await startEcho({ access_token: CANARY.access, refresh_token: CANARY.refresh, expires_in: 1 });
    const environment = {
      ...gfa(echo),
      ...portal(echo),
      ...servicePair,
      PORTAL_SERIALS: SERIAL,
      NODE_DEBUG: 'undici,fetch,tls,net,timer,worker',
    };
    const program = start([], { environment });
    const texts = await pagesAfter(program, () => echo.answered > 5 && reached(echo).size > 3);
    expect(program.stderr).toMatch(/^FETCH \d+: sending request/m);
    expect(found(texts)).toEqual([]);
  });

  test('by a crash: the log has the messages, and nothing that hangs on the error', async () => {
    const echo = await startEcho({ access_token: CANARY.access, refresh_token: CANARY.refresh, expires_in: 1 });
    const directory = temporaryDirectory();
    const preload = join(directory, 'crash.mjs');
    const hanging = JSON.stringify({ headers: { authorization: CANARY.gfaToken }, body: CANARY.serviceSecret });
    writeFileSync(
      preload,
      `process.once('SIGUSR2', () => {
        const cause = Object.assign(new Error('inner'), { request: ${hanging} });
        throw Object.assign(new TypeError('outer', { cause }), ${hanging});
      });
      process.once('SIGWINCH', () => {
        void Promise.reject(Object.assign(new TypeError('rejected'), ${hanging}));
      });`,
    );
    const environment = { ...gfa(echo), NODE_OPTIONS: `--import=${preload}` };
    const program = start([], { environment, directory });
    await program.serving();
    program.kill('SIGWINCH');
    await until('the line about the rejection', () => program.stdout.includes('unhandled rejection'));
    program.kill('SIGUSR2');
    const { code, stdout, stderr } = await program.ended;
    expect(code).toBe(1);
    const line = program.log.at(-1);
    expect(line).toMatchObject({ level: 'error', err: { type: 'TypeError', message: 'outer', causes: ['inner'] } });
    expect(found([stdout, stderr])).toEqual([]);
  });

  test('by the web side: passwords that are asked, hashes, and keys that cannot be used', async () => {
    const echo = await startEcho(undefined);
    const directory = temporaryDirectory();
    const path = join(directory, 'web.yml');
    const write = (text: string) => writeFileSync(path, text, { mode: 0o600 });
    // Well formed, and nobody's: the canary is in the hash.
    const hash = `$2b$04$${'canaryHash'.padEnd(53, 'a')}`;
    write(`basic_auth_users:\n  me: ${hash}\n`);
    const program = start([], { environment: { ...gfa(echo), WEB_CONFIG_FILE: path } });
    const url = await program.serving();
    const authorization = `Basic ${Buffer.from(`me:${CANARY.userKey}`).toString('base64')}`;
    const pages = await Promise.all(
      ['/metrics', '/status', `/nowhere?key=${CANARY.userKey}`].map(async (page) => {
        const answer = await fetch(url + page, { headers: { authorization } });
        expect(answer.status).toBe(401);
        return `${await answer.text()}${JSON.stringify([...answer.headers])}`;
      }),
    );
    for (const bad of [
      `basic_auth_users:\n  me: ${CANARY.userKey}\n`,
      `tls_server_config:\n  cert: ${CANARY.userKey}\n  key: ${CANARY.userKey}\n`,
      `${CANARY.serviceKey}: [\n`,
      `tls_server_config:\n  ${CANARY.serviceSecret}: ${CANARY.serviceKey}\n`,
    ]) {
      const lines = () => program.log.filter(({ msg }) => msg.includes('configuration rejected')).length;
      const before = lines();
      write(bad);
      await until('the line about it', () => lines() > before);
      const ended = await runHere(['--check-config'], { environment: { ...gfa(echo), WEB_CONFIG_FILE: path } });
      expect(ended.code).toBe(78);
      expect(found([ended.stdout, ended.stderr])).toEqual([]);
    }
    program.kill('SIGTERM');
    const { stdout, stderr } = await program.ended;
    const texts = [stdout, stderr, ...pages];
    expect(found(texts, [...CANARIES, authorization.slice(6), hash])).toEqual([]);
  });
});

test('a folder in the place of .env ends --check-config with 78, and shows no secret', async () => {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, '.env'));
  const { code, stderr } = await runHere(['--check-config'], {
    directory,
    environment: { GFA_TOKEN: CANARY.gfaToken },
  });
  expect(code).toBe(78);
  expect(stderr).toContain('.env: cannot be read (not a regular file)');
  expect(found([stderr])).toEqual([]);
});

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** A service that rejects every request with a message of its own. */
async function startGossip(message: string) {
  const paths = new Set<string>();
  const server = createServer((request, response) => {
    paths.add(new URL(request.url ?? '', 'http://x').pathname);
    request.resume().on('end', () => {
      const echo = JSON.stringify(request.headers);
      response.writeHead(403, { 'content-type': 'application/json' });
      response.end(request.method === 'POST' ? `${echo.slice(0, 250)} ${message}` : JSON.stringify({ message }));
    });
  });
  return { origin: `http://127.0.0.1:${await servedPort(server)}`, paths };
}

const SERIAL = '0b7e2a64-5f0c-4c1e-9d3a-8f6b1c2d3e4f';
const talkative = { LOG_LEVEL: 'trace' };
const servicePair = { PORTAL_SERVICE_KEY: CANARY.serviceKey, PORTAL_SERVICE_SECRET: CANARY.serviceSecret };

function gfa({ origin }: Echo) {
  return { GFA_URL: `${origin}/v1`, GFA_TOKEN: CANARY.gfaToken, GFA_INTERVAL: '1s', ...talkative };
}

function portal({ origin }: Echo) {
  return {
    PORTAL_URL: origin,
    PORTAL_INTERVAL: '1s',
    PORTAL_DISCOVERY_INTERVAL: '1s',
    PORTAL_CONCURRENCY: '4',
    ...talkative,
  };
}

/** All that a program says and serves: its pages once a condition holds, and its output to the end. */
async function pagesAfter(program: Program, holds: () => boolean): Promise<readonly string[]> {
  const url = await program.serving();
  await until('enough to have happened', holds);
  const pages = await Promise.all(
    ['/', '/metrics', '/status', '/api/v1/status', '/readyz', '/nowhere'].map((path) => get(url + path)),
  );
  program.kill('SIGTERM');
  const { stdout, stderr } = await program.ended;
  return [stdout, stderr, ...pages.map(({ text }) => text)];
}

/** Which canaries reached the service: what was never sent proves nothing. */
function reached({ received }: Echo): ReadonlySet<string> {
  return new Set(CANARIES.filter((canary) => received.some((text) => text.includes(canary))));
}

/** The secrets that occur in these texts, and the lines where. */
function found(texts: readonly string[], secrets: readonly string[] = CANARIES): readonly string[] {
  const lines = texts.flatMap((text) => text.split('\n'));
  return lines.filter((line) => secrets.some((secret) => line.includes(secret)) || /canary/i.test(line));
}

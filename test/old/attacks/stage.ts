import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { MockServices } from '../../src/demo/mock-services.ts';
import { within } from '../support/machine.ts';
import { type Program, start, temporaryDirectory } from '../support/program.ts';
import { gfaEnvironment, portalEnvironment } from '../support/real-services.ts';
import { until } from '../support/until.ts';
import { curl, GEHEIM, GEHEIM_AT_10 } from '../web/asking.ts';
import { makePair, type Pair } from '../web/certificates.ts';
import { MEMORY_MIB, NEXT_SCRAPE_MS, type Setup } from './row.ts';

/** What needs no time at all is waited for so long, in milliseconds: others may keep the machine busy. */
export const WAIT_MS = 60_000;

/** What is sent with a request. */
export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address that it comes from, any of 127.0.0.0/8. */
  readonly from?: string;
  /** Without a client certificate. */
  readonly isStranger?: boolean;
  /**
   * Whether curl sends it, as a process of its own. Then hundreds of clients in this process cannot delay the request
   * after its connection is open, which no scraper does.
   */
  readonly isOwnProcess?: boolean;
  /** How long nothing may come, in milliseconds; the usual scrape time-out unless set. */
  readonly waitMs?: number;
}

/** An answer read whole. */
export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly ms: number;
}

/** The header of a user with a password. */
export function basic(user: string, password: string) {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` } as const;
}

/** `me` with the right password. */
export const PASSWORD = basic('me', 'geheim');

/** A connection by hand. */
export interface Wire {
  readonly socket: Socket;
  readonly heard: { text: string; closed: boolean };
}

/** What a client needs of a process that asks for certificates. */
interface Clients {
  readonly authority: Pair;
  readonly client: Pair;
}

/** A process under attack, with all that an attacker and a scraper can do to it. */
export class Stage {
  readonly program: Program;
  readonly folder: string;
  readonly mocks: MockServices;
  /** How long a good scrape took at most, in milliseconds. */
  longestScrapeMs = 0;
  /** How long the next good scrape may take. */
  readonly #patienceMs: number;
  readonly #port: number;
  readonly #clients: Clients | undefined;

  constructor(program: Program, folder: string, mocks: MockServices, port: number, clients: Clients | undefined) {
    this.program = program;
    this.folder = folder;
    this.mocks = mocks;
    this.#port = port;
    this.#patienceMs = NEXT_SCRAPE_MS * Math.max(1, (performance.now() - program.begun) / 1_000);
    this.#clients = clients;
  }

  get hasEnded(): boolean {
    const { exitCode, signalCode } = this.program.child;
    return exitCode !== null || signalCode !== null;
  }

  get isSecure(): boolean {
    return this.#clients !== undefined;
  }

  /** Where a file of the process is. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /** Writes the web configuration anew. */
  writeWeb(text: string): void {
    writeFileSync(this.path('web.yml'), text, { mode: 0o600 });
  }

  /** Opens a connection; it is gone when the test is over. */
  async wire(from = '127.0.0.1'): Promise<Wire> {
    const socket = connect({ host: '127.0.0.1', port: this.#port, localAddress: from });
    onTestFinished(() => void socket.destroy());
    const heard = { text: '', closed: false };
    socket.on('error', () => {});
    socket.on('close', () => {
      heard.closed = true;
    });
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    return { socket, heard };
  }

  /** Opens many. */
  wires(count: number): Promise<readonly Wire[]> {
    return Promise.all(Array.from({ length: count }, () => this.wire()));
  }

  /** Sends the same on many connections and reads nothing of what comes back. */
  async flood(connections: number, bytes: string | Buffer): Promise<void> {
    for (const { socket } of await this.wires(connections)) {
      socket.pause();
      socket.write(bytes);
    }
  }

  /** Sends by hand, and gives all that comes until the connection is closed or nothing more has come for a while. */
  async say(bytes: string | Buffer, quietMs = 500): Promise<string> {
    const { socket, heard } = await this.wire();
    let at = performance.now();
    socket.setEncoding('latin1').on('data', (text: string) => {
      heard.text += text;
      at = performance.now();
    });
    socket.write(bytes);
    const isOver = () => heard.closed || (heard.text !== '' && performance.now() - at > quietMs);
    await until('an answer', isOver, WAIT_MS);
    return heard.text;
  }

  /** Asks on a connection of its own. */
  async ask(path: string, asking: Asking = {}): Promise<Answered> {
    const { method = 'GET', headers = {}, from, isStranger = false, isOwnProcess = false, waitMs } = asking;
    const begun = performance.now();
    if (isOwnProcess) {
      const sent = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]);
      const answer = await curl(`http://127.0.0.1:${this.#port}${path}`, '--interface', from ?? '127.0.0.1', ...sent);
      return { ...answer, headers: {}, ms: performance.now() - begun };
    }
    const { authority, client } = this.#clients ?? {};
    const certificate = isStranger || client === undefined ? {} : { cert: client.certText, key: client.keyText };
    const options = {
      host: '127.0.0.1',
      port: this.#port,
      path,
      method,
      headers,
      agent: false as const,
      localAddress: from,
      ...(authority === undefined ? {} : { ca: authority.certText, ...certificate }),
    };
    return new Promise((resolve, reject) => {
      const asked = (this.isSecure ? secureRequest : request)(options, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text, ms: performance.now() - begun });
        });
      });
      asked.setTimeout(waitMs ?? this.#patienceMs, () => asked.destroy(new Error('no answer in time')));
      asked.on('error', reject);
      asked.end();
    });
  }

  /** Scrapes again and again until it is answered, as Prometheus does; fails where that takes so many scrape time-outs. */
  async scrape(asking: Asking = {}, timeouts = 1): Promise<Answered> {
    const begun = performance.now();
    const answer = await until(
      'a good scrape',
      async () => {
        const { status, ...rest } = await this.ask('/metrics', { headers: PASSWORD, ...asking });
        return status === 200 && { status, ...rest };
      },
      timeouts * this.#patienceMs,
    );
    expect(answer.text).toContain('\nfiler_exporter_build_info');
    const ms = performance.now() - begun;
    this.longestScrapeMs = Math.max(this.longestScrapeMs, ms);
    return { ...answer, ms };
  }

  /** The most memory that the process ever had, in mebibytes; 0 on a system that does not tell. */
  peakMib(): number {
    if (process.platform !== 'linux') return 0;
    const status = readFileSync(`/proc/${this.program.child.pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  }

  /** What must hold after every attack: the process lives, within its memory. */
  expectAlive(): void {
    expect(this.hasEnded).toBe(false);
    expect(this.peakMib()).toBeLessThan(MEMORY_MIB);
  }
}

/** What a web configuration says. */
export const WEB = {
  users: `basic_auth_users:\n  me: ${GEHEIM}\n`,
  'costly users': `basic_auth_users:\n  me: ${GEHEIM_AT_10}\n  you: ${GEHEIM_AT_10}\n`,
  tls: 'tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n',
  'tls, clients and users': `tls_server_config:
  cert_file: server.crt
  key_file: server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: authority.crt
basic_auth_users:
  me: ${GEHEIM}
`,
} as const;

/** Starts a process to attack, which polls a fleet; it is gone when the test is over. */
export async function staged(
  { web, environment = {}, hasTokenFile = false }: Setup,
  mocks: MockServices,
): Promise<Stage> {
  const folder = temporaryDirectory();
  const isSecure = web?.startsWith('tls') === true;
  const clients = isSecure ? pairs(folder) : undefined;
  if (web !== undefined) writeFileSync(join(folder, 'web.yml'), WEB[web], { mode: 0o600 });
  if (hasTokenFile) writeFileSync(join(folder, 'token'), mocks.credentials.gfaToken, { mode: 0o600 });
  const { through, heap } = within(MEMORY_MIB);
  const program = start([], {
    directory: folder,
    through,
    environment: {
      ...gfaEnvironment(mocks),
      ...portalEnvironment(mocks),
      ...heap,
      ...(hasTokenFile ? { GFA_TOKEN: '', GFA_TOKEN_FILE: 'token' } : {}),
      ...(web === undefined ? {} : { WEB_CONFIG_FILE: join(folder, 'web.yml') }),
      ...environment,
    },
  });
  const url = await program.serving();
  const stage = new Stage(program, folder, mocks, Number(new URL(url).port), clients);
  await until('the first polls to end', async () => (await stage.ask('/readyz')).status === 200);
  return stage;
}

function pairs(folder: string): Clients {
  const authority = makePair(folder, 'authority', { authority: true });
  makePair(folder, 'server', { names: 'DNS:localhost,IP:127.0.0.1', by: authority });
  return { authority, client: makePair(folder, 'client', { by: authority }) };
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type MockServices, startMockServices } from '../../src/demo/mock-services.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type Certificate, selfSigned, trusted } from '../support/certificates.ts';
import { type Absence, Front } from '../support/front.ts';
import { end, type LogLine, launch, linesOf, type Program, root } from '../support/program.ts';
import { Scrape } from '../support/scrape.ts';
import { makePair } from '../web/certificates.ts';
import { SERIES, Stamps } from './stamps.ts';

/** How the services are reached: `http` by address, `http` by name, or `https`. */
export type Reach = 'address' | 'name' | 'tls';

/** What a table of rows runs on. */
export interface Setup {
  readonly reach: Reach;
  /** Seconds between two polls of a series. */
  readonly portalSeconds: number;
  /** Seconds between two inventories. */
  readonly discoverySeconds: number;
  /** How long access tokens live, in seconds. */
  readonly tokenSeconds: number;
  /** REQUEST_TIMEOUT, in seconds. */
  readonly timeoutSeconds: number;
}

/** How long a start may take, and a scrape, in milliseconds: as long as it does where much else is started beside it. */
const MAX_START_MS = 40_000;
const MAX_SCRAPE_MS = 15_000;

/** What the services are called where they are reached by name. */
const NAMES = { gfa: 'acceleration.test', portal: 'portal.test' } as const;

/** How many appliances there are. */
export const APPLIANCES = 3;

/** Certificates that are not to be trusted, by what is wrong with them. */
type Wrong = Readonly<Record<'issuer' | 'name' | 'expired', Certificate>>;

/** The process itself with a service of its own behind each of two fronts. */
export class Instance {
  readonly program: Program;
  readonly standIn: MockServices;
  readonly gfa: Front;
  readonly portal: Front;
  readonly url: string;
  readonly stamps: Stamps;
  /** When an API was last seen to be up again, in milliseconds of this process. */
  recoveredAt = Number.NEGATIVE_INFINITY;
  readonly #folder: string;
  readonly #names: string;
  readonly #wrong: Wrong | undefined;
  readonly #log: LogLine[] = [];
  #logRead = 0;

  private constructor(parts: {
    readonly program: Program;
    readonly standIn: MockServices;
    readonly fronts: { readonly gfa: Front; readonly portal: Front };
    readonly url: string;
    readonly stamps: Stamps;
    readonly folder: string;
    readonly names: string;
    readonly wrong: Wrong | undefined;
  }) {
    this.program = parts.program;
    this.standIn = parts.standIn;
    this.gfa = parts.fronts.gfa;
    this.portal = parts.fronts.portal;
    this.url = parts.url;
    this.stamps = parts.stamps;
    this.#folder = parts.folder;
    this.#names = parts.names;
    this.#wrong = parts.wrong;
  }

  /** Starts services, fronts and the process. */
  static async start(setup: Setup): Promise<Instance> {
    const { reach, portalSeconds, discoverySeconds, tokenSeconds, timeoutSeconds } = setup;
    const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-faults-'));
    const names = join(folder, 'names');
    writeFileSync(names, '');
    const variations = { tokenLifetimeMs: tokenSeconds * 1000 };
    const standIn = await startMockServices({ clock: systemClock, appliances: APPLIANCES, volumes: 2, variations });
    const right = reach === 'tls' ? selfSigned(folder, 'right', 'IP:127.0.0.1') : undefined;
    const wrong = right && wrongCertificates(folder);
    const stamps = new Stamps();
    const front = (url: string) => new Front(url, right, (operation, answer) => stamps.put(operation, answer));
    const fronts = { gfa: front(standIn.gfaUrl), portal: front(standIn.portalUrl) };
    await Promise.all([fronts.gfa.listen(), fronts.portal.listen()]);
    const base = (api: keyof typeof NAMES) =>
      `${right ? 'https' : 'http'}://${reach === 'name' ? NAMES[api] : '127.0.0.1'}:${fronts[api].port}`;
    const program = launch([], {
      directory: folder,
      environment: {
        GFA_URL: `${base('gfa')}/gfa/v1`,
        GFA_TOKEN: standIn.credentials.gfaToken,
        GFA_INTERVAL: '1s',
        PORTAL_URL: `${base('portal')}/portal`,
        PORTAL_SERVICE_KEY: standIn.credentials.serviceKey,
        PORTAL_SERVICE_SECRET: standIn.credentials.serviceSecret,
        PORTAL_SERIES: SERIES.join(','),
        PORTAL_INTERVAL: `${portalSeconds}s`,
        PORTAL_DISCOVERY_INTERVAL: `${discoverySeconds}s`,
        PORTAL_RATE_LIMIT: '3000/30s',
        REQUEST_TIMEOUT: `${timeoutSeconds}s`,
        MAX_RESPONSE_BYTES: '4000000',
        STALE_AFTER: '4',
        ALLOW_INSECURE_UPSTREAM: 'true',
        ...(reach === 'name'
          ? {
              NODE_OPTIONS: `--import ${pathToFileURL(join(root, 'test/support/resolver.mjs')).href}`,
              RESOLVER_FILE: names,
            }
          : {}),
        ...(right && wrong ? { NODE_EXTRA_CA_CERTS: trusted(folder, [right, wrong.name, wrong.expired]) } : {}),
      },
    });
    const url = await program.serving(MAX_START_MS).catch(async (error: unknown) => {
      await Promise.all([end(program), fronts.gfa.close(), fronts.portal.close(), standIn.close()]);
      throw error;
    });
    return new Instance({ program, standIn, fronts, url, stamps, folder, names, wrong });
  }

  /** The log so far; each line is read once. */
  get log(): readonly LogLine[] {
    const { stdout } = this.program;
    const end = stdout.lastIndexOf('\n') + 1;
    this.#log.push(...linesOf(stdout.slice(this.#logRead, end)));
    this.#logRead = end;
    return this.#log;
  }

  /** One scrape, read strictly. */
  async scrape(): Promise<Scrape> {
    const answer = await fetch(`${this.url}/metrics`, { signal: AbortSignal.timeout(MAX_SCRAPE_MS) });
    return new Scrape(await answer.text());
  }

  /** The name of a service cannot be resolved, that of the other can: both need new connections now and then. */
  unresolve(front: Front, code: string): void {
    writeFileSync(this.#names, `${NAMES[front === this.gfa ? 'gfa' : 'portal']} ${code}`);
  }

  /** Both names can be resolved. */
  resolve(): void {
    writeFileSync(this.#names, '');
  }

  /** A certificate that is not to be trusted, as an absence of a front. */
  absence(kind: keyof Wrong): Absence {
    if (this.#wrong === undefined) throw new Error('this instance speaks no TLS');
    return { kind: 'certificate', certificate: this.#wrong[kind] };
  }

  /** Ends all of it. */
  async close(): Promise<void> {
    await end(this.program);
    await Promise.all([this.gfa.close(), this.portal.close(), this.standIn.close()]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Each wrong in one way only: those with the wrong name and beyond their time are trusted otherwise. */
function wrongCertificates(folder: string): Wrong {
  const { certText, keyText } = makePair(folder, 'expired', { names: 'IP:127.0.0.1', days: -1 });
  return {
    issuer: selfSigned(folder, 'issuer', 'IP:127.0.0.1'),
    name: selfSigned(folder, 'name', 'DNS:elsewhere.test'),
    expired: { cert: certText, key: keyText },
  };
}

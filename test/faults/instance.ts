import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type StandIn, startStandIn } from '../../src/demo/stand-in.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { type Certificate, selfSigned, trusted } from '../support/certificates.ts';
import { type Absence, Front } from '../support/front.ts';
import { end, launch, type Program, root } from '../support/program.ts';
import { Scrape } from '../support/scrape.ts';

/** How the services are reached: `http` by address, `http` by name, or `https`. */
export type Reach = 'address' | 'name' | 'tls';

/** What a table of rows runs on. */
export interface Setup {
  readonly reach: Reach;
  /** Seconds between two polls of a series, and between two inventories. */
  readonly portalSeconds: number;
  /** Of access tokens, in seconds. */
  readonly tokenSeconds: number;
}

/** The two series that are polled of every appliance. */
export const SERIES = ['cpu_utilization', 'load_average'] as const;

/** How many appliances there are. */
export const APPLIANCES = 3;

/** The process itself with a service of its own behind each of two fronts. */
export class Instance {
  readonly program: Program;
  readonly standIn: StandIn;
  readonly gfa: Front;
  readonly portal: Front;
  readonly url: string;
  readonly #folder: string;
  readonly #names: string;
  readonly #wrong: { readonly issuer: Certificate; readonly name: Certificate } | undefined;

  private constructor(parts: {
    readonly program: Program;
    readonly standIn: StandIn;
    readonly fronts: { readonly gfa: Front; readonly portal: Front };
    readonly url: string;
    readonly folder: string;
    readonly names: string;
    readonly wrong: { readonly issuer: Certificate; readonly name: Certificate } | undefined;
  }) {
    this.program = parts.program;
    this.standIn = parts.standIn;
    this.gfa = parts.fronts.gfa;
    this.portal = parts.fronts.portal;
    this.url = parts.url;
    this.#folder = parts.folder;
    this.#names = parts.names;
    this.#wrong = parts.wrong;
  }

  /** Starts services, fronts and the process. */
  static async start({ reach, portalSeconds, tokenSeconds }: Setup): Promise<Instance> {
    const folder = mkdtempSync(join(tmpdir(), 'filer-exporter-faults-'));
    const names = join(folder, 'names');
    writeFileSync(names, '');
    const variations = { tokenLifetimeMs: tokenSeconds * 1000 };
    const standIn = await startStandIn({ clock: systemClock, appliances: APPLIANCES, volumes: 2, variations });
    const right = reach === 'tls' ? selfSigned(folder, 'right', 'IP:127.0.0.1') : undefined;
    const wrong = right && {
      issuer: selfSigned(folder, 'issuer', 'IP:127.0.0.1'),
      name: selfSigned(folder, 'name', 'DNS:elsewhere.test'),
    };
    const fronts = { gfa: new Front(standIn.gfaUrl, right), portal: new Front(standIn.portalUrl, right) };
    await Promise.all([fronts.gfa.listen(), fronts.portal.listen()]);
    const base = (front: Front) =>
      `${right ? 'https' : 'http'}://${reach === 'name' ? 'service.test' : '127.0.0.1'}:${front.port}`;
    const program = launch([], {
      directory: folder,
      environment: {
        GFA_URL: `${base(fronts.gfa)}/gfa/v1`,
        GFA_TOKEN: standIn.credentials.gfaToken,
        GFA_INTERVAL: '1s',
        PORTAL_URL: `${base(fronts.portal)}/portal`,
        PORTAL_SERVICE_KEY: standIn.credentials.serviceKey,
        PORTAL_SERVICE_SECRET: standIn.credentials.serviceSecret,
        PORTAL_SERIES: SERIES.join(','),
        PORTAL_INTERVAL: `${portalSeconds}s`,
        PORTAL_DISCOVERY_INTERVAL: `${portalSeconds}s`,
        PORTAL_RATE_LIMIT: '3000/30s',
        REQUEST_TIMEOUT: '2s',
        MAX_RESPONSE_BYTES: '4000000',
        STALE_AFTER: '100',
        ALLOW_INSECURE_UPSTREAM: 'true',
        ...(reach === 'name'
          ? {
              NODE_OPTIONS: `--import ${pathToFileURL(join(root, 'test/support/resolver.mjs')).href}`,
              RESOLVER_FILE: names,
            }
          : {}),
        ...(right && wrong ? { NODE_EXTRA_CA_CERTS: trusted(folder, [right, wrong.name]) } : {}),
      },
    });
    const url = await program.serving().catch(async (error: unknown) => {
      await Promise.all([end(program), fronts.gfa.close(), fronts.portal.close(), standIn.close()]);
      throw error;
    });
    return new Instance({ program, standIn, fronts, url, folder, names, wrong });
  }

  /** One scrape, read strictly. */
  async scrape(): Promise<Scrape> {
    const answer = await fetch(`${this.url}/metrics`, { signal: AbortSignal.timeout(5_000) });
    return new Scrape(await answer.text());
  }

  /** The names of the services cannot be resolved; an empty code: they can. */
  resolve(code: string): void {
    writeFileSync(this.#names, code);
  }

  /** A certificate that is not to be trusted, as an absence of a front. */
  absence(kind: 'issuer' | 'name'): Absence {
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

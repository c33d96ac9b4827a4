import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Whether `openssl` and `curl` are installed; REQUIRE_TLS_CLIENTS=1 makes it a failure when they are not. */
export const hasTlsClients: boolean = ['openssl', 'curl'].every((program) => {
  try {
    execFileSync(program, [program === 'curl' ? '--version' : 'version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
});

/** A certificate and its key, as files and as texts. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
  readonly certText: string;
  readonly keyText: string;
}

/** What a certificate is to be like. */
export interface Wanted {
  /** Alternative names as openssl writes them, such as `DNS:localhost,IP:127.0.0.1`. */
  readonly names?: string;
  /** Who signs; by default it signs itself. */
  readonly by?: Pair;
  readonly days?: number;
  /** May sign others. */
  readonly authority?: boolean;
}

/** Makes a certificate with openssl, as `NAME.crt` and `NAME.key` of a folder. */
export function makePair(folder: string, name: string, { names, by, days = 2, authority = false }: Wanted = {}): Pair {
  const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const request = join(folder, `${name}.csr`);
  const extensions = join(folder, `${name}.ext`);
  const lines = [`basicConstraints=critical,CA:${authority ? 'TRUE' : 'FALSE'}`];
  if (names !== undefined) lines.push(`subjectAltName=${names}`);
  writeFileSync(extensions, `${lines.join('\n')}\n`);
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  run(['req', '-new', ...curve, '-keyout', key, '-out', request, '-subj', `/CN=${name}`]);
  const signer = by === undefined ? ['-signkey', key] : ['-CA', by.cert, '-CAkey', by.key, '-CAcreateserial'];
  run(['x509', '-req', '-in', request, '-out', cert, '-days', String(days), '-extfile', extensions, ...signer]);
  return { cert, key, certText: readFileSync(cert, 'utf8'), keyText: readFileSync(key, 'utf8') };
}

function run(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

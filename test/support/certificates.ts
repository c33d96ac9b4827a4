import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A certificate with its key, as servers take them. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Whether certificates can be made on this machine, which takes openssl. */
export function canCertify(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A certificate signed by itself, good for a day; `subject` is the name or address, as `IP:127.0.0.1` or `DNS:a.test`. */
export function selfSigned(folder: string, name: string, subject: string): Certificate {
  const [cert, key] = [join(folder, `${name}.pem`), join(folder, `${name}.key`)];
  const keyed = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key];
  const named = ['-subj', '/CN=test', '-addext', `subjectAltName=${subject}`];
  execFileSync('openssl', ['req', '-x509', '-days', '1', ...keyed, '-out', cert, ...named], { stdio: 'ignore' });
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}

/** Writes several certificates to one file, for whoever is to trust them all, and gives its path. */
export function trusted(folder: string, certificates: readonly Certificate[]): string {
  const path = join(folder, 'trusted.pem');
  writeFileSync(path, certificates.map(({ cert }) => cert).join(''));
  return path;
}

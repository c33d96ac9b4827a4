import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Certificates for 2020 to 2120, made with openssl: `server` and `renewed` (until 2110, with a key of its own) for
 * localhost and 127.0.0.1, `client` for several names, all signed by `authority`; `stranger` signed by itself.
 */
const folder = new URL('./certificates/', import.meta.url);

/** The path of a file, such as `server.crt` or `server.key`. */
export function certificatePath(name: string): string {
  return fileURLToPath(new URL(name, folder));
}

export function certificateText(name: string): string {
  return readFileSync(certificatePath(name), 'utf8');
}

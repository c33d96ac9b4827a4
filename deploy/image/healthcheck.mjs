/*
 * Whether the exporter of this container answers: the image has neither a shell nor curl. It asks the address that
 * LISTEN_ADDRESS names, or this machine's own when that names no host. Exit code 0 when it answers, else 1: whether the
 * process lives, and not whether it is ready. It has no password and no certificate, and being refused is an answer too.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';

const EVERYWHERE = ['', '0.0.0.0', '[::]'];
const TIMEOUT_MS = 4_000;

const { LISTEN_ADDRESS, WEB_CONFIG_FILE } = process.env;
const [, name = '', port] = /^(.*):(\d+)$/.exec(LISTEN_ADDRESS || ':9989') ?? [];
const host = EVERYWHERE.includes(name) ? '127.0.0.1' : name.replace(/^\[(.*)\]$/, '$1');
const isSecure = Boolean(WEB_CONFIG_FILE) && /^tls_server_config:/m.test(readFileSync(WEB_CONFIG_FILE, 'utf8'));

// The certificate is made out to the name that others use, and this process trusts itself.
const options = { host, port, path: '/healthz', timeout: TIMEOUT_MS, rejectUnauthorized: false };
const asked = (isSecure ? secureRequest : request)(options, ({ statusCode }) => {
  process.exit([200, 401, 403, 429].includes(statusCode) ? 0 : 1);
});
// Who wants a client certificate hangs up once the keys are agreed: a process that lives has answered until then.
let hasAgreed = false;
asked.once('socket', (socket) =>
  socket.once('keylog', () => {
    hasAgreed = true;
  }),
);
asked.once('timeout', () => process.exit(1));
asked.once('error', () => process.exit(hasAgreed ? 0 : 1));
asked.end();

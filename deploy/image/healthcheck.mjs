/*
 * Exits with 0 if the exporter of this container responds, else with 1. The image has neither a shell nor curl. The request
 * goes to the address in LISTEN_ADDRESS, or to 127.0.0.1 if that names no host. It has neither a password nor a certificate,
 * because a rejection shows as well that the process runs.
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

// The certificate is for the name that clients use, not for this address.
const options = { host, port, path: '/healthz', timeout: TIMEOUT_MS, rejectUnauthorized: false };
const sent = (isSecure ? secureRequest : request)(options, ({ statusCode }) => {
  process.exit([200, 401, 403, 429].includes(statusCode) ? 0 : 1);
});
// A server that requires a client certificate closes the connection after the keys are agreed, so it runs.
let hasAgreed = false;
sent.once('socket', (socket) =>
  socket.once('keylog', () => {
    hasAgreed = true;
  }),
);
sent.once('timeout', () => process.exit(1));
sent.once('error', () => process.exit(hasAgreed ? 0 : 1));
sent.end();

import { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Headers of every answer, whatever it says and whoever writes it. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** An answer as all of them are: kept by no cache, and taken for nothing but what it says it is. */
export class HttpAnswer extends ServerResponse {
  constructor(...handedOn: ConstructorParameters<typeof ServerResponse>) {
    super(...handedOn);
    for (const [name, value] of Object.entries(ALWAYS)) this.setHeader(name, value);
  }
}

const STATUSES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Answers what is not a request, or does not become one in time, and closes the connection. Where an answer to an earlier
 * request is under way it is only closed: what is written then would be read as a part of that.
 */
export function refuseNonsense(error: Error & { readonly code?: string }, socket: Socket, isBusy: boolean): void {
  const status = STATUSES[error.code ?? ''] ?? '400 Bad Request';
  const headers = Object.entries({ ...ALWAYS, connection: 'close', 'content-length': '0' });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  if (socket.writable && !isBusy) socket.write(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`);
  socket.destroy(error);
}

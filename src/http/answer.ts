import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The headers of all answers: not cached, and only of the declared type. */
export const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

export function sendText(response: ServerResponse, status: number, text: string, headers?: OutgoingHttpHeaders): void {
  response.writeHead(status, {
    ...headers,
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  });
  response.end(text);
}

const STATUSES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};

/**
 * Answers an invalid or late request, and closes the connection. During an answer to an earlier request it only closes:
 * bytes written then would be part of that answer.
 */
export function refuseNonsense(error: Error & { readonly code?: string }, socket: Socket, isBusy: boolean): void {
  const status = STATUSES[error.code ?? ''] ?? '400 Bad Request';
  const headers = Object.entries({ ...ALWAYS, connection: 'close', 'content-length': '0' });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
  if (socket.writable && !isBusy) socket.write(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`);
  socket.destroy(error);
}

import type { ServerResponse } from 'node:http';
import type { Clock } from '../runtime/clock.ts';
import type { DemoResponse } from './exchange.ts';
import { empty, gfaError, invalid, portalError } from './exchange.ts';
import type { FaultEffect } from './faults.ts';
import type { Route } from './routes.ts';

/** Writes a whole response. */
export function sendWhole(response: ServerResponse, content: DemoResponse): void {
  const body = begin(response, content);
  response.end(body);
}

/** The response of a fault in place of the real one; undefined if the fault only affects the sending. */
export function replacement(fault: FaultEffect, service: Route['service']): DemoResponse | undefined {
  if (fault.kind === 'body') {
    const headers = { 'content-type': fault.contentType ?? 'application/json', ...fault.headers };
    return { status: 200, headers, body: fault.body };
  }
  if (fault.kind !== 'status') return undefined;
  const usual = defaultError(fault.status, service);
  return { ...usual, headers: { ...usual.headers, ...fault.headers }, body: fault.body ?? usual.body };
}

/** Whether a fault prevents any response, so that the operation does not run. */
export function isSilence(fault: FaultEffect): boolean {
  return fault.kind === 'reset' || fault.kind === 'hang';
}

/** Leaves a request without a response. */
export function sendSilence(response: ServerResponse, fault: FaultEffect): void {
  if (fault.kind === 'reset') response.destroy();
}

/** Sends a response with the fault applied; `signal` ends one that is still being sent. */
export async function sendCorrupted(
  response: ServerResponse,
  fault: FaultEffect,
  content: DemoResponse,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const body = begin(response, content);
  response.flushHeaders();
  if (fault.kind === 'drip') await drip(response, body, clock, signal);
  else if (fault.kind === 'cut' || fault.kind === 'hang-body') {
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => {
      if (fault.kind === 'cut') response.destroy();
    });
  } else response.end(body);
}

async function drip(response: ServerResponse, body: Buffer, clock: Clock, signal: AbortSignal): Promise<void> {
  for (const byte of body) {
    await clock.sleep(1000, signal);
    if (signal.aborted || response.destroyed) return;
    response.write(Uint8Array.of(byte));
  }
  response.end();
}

function begin(response: ServerResponse, { status, headers, body }: DemoResponse): Buffer {
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'content-length': bytes.length, ...headers });
  return bytes;
}

/** The error body of the service for a status. */
function defaultError(status: number, service: Route['service']): DemoResponse {
  const msg = 'Injected fault';
  if (service === 'portal') {
    return status === 422
      ? invalid({ type: 'value_error', loc: ['body'], msg, input: null })
      : portalError(status, msg);
  }
  return status === 401 || status === 403 ? empty(status) : gfaError(status, msg);
}

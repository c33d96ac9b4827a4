import type { PollResult } from '../../../src/contract/poll-result.ts';
import type { PortalCollector } from '../../../src/services/portal/collector.ts';
import { going, type MockApi, mockApi, type Reply, token } from '../../support/mock-api.ts';
import { uuid } from '../../support/portal-parts.ts';

export const A = uuid(0xa);
export const B = uuid(0xb);
export const FORBIDDEN: Reply = [403, { message: 'Forbidden', detail: null }];

export function list(...items: readonly object[]): Reply {
  return [200, { items }];
}

/** An API whose inventory says this: edge serials, file_iq serials, edges. */
export function portal(edge: Reply, fileIq: Reply, edges: Reply): MockApi {
  const api = mockApi();
  api.answer('POST', '/auth/token', token('one'));
  api.answer('GET', '/serials', edge, fileIq);
  api.answer('GET', '/edges', edges);
  return api;
}

export function discover(collector: PortalCollector): Promise<PollResult> {
  return [...collector.tasks()][0]?.poll(going) ?? Promise.reject(new Error('no inventory task'));
}

export function ids(collector: PortalCollector): readonly string[] {
  return [...collector.tasks()].map(({ id }) => id);
}

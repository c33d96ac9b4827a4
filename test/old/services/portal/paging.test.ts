import { expect, test } from 'vitest';
import type { PortalClient } from '../../../src/services/portal/client.ts';
import { fetchPages, type PagedList } from '../../../src/services/portal/paging.ts';
import { going } from '../../support/mock-api.ts';

/** Reads a list of so many pages; returns how many were read before it ended or threw. */
async function pagesRead(pages: number, list: PagedList) {
  let sent = 0;
  const send = () => {
    sent += 1;
    return Promise.resolve({ items: [], metadata: { iterator_id: sent < pages ? `page ${sent}` : '' } });
  };
  const request = { method: 'GET', path: '/cloud-credentials', operation: 'cloud_credentials' } as const;
  let read = 0;
  try {
    for await (const _ of fetchPages({ send } as unknown as PortalClient, request, going, list)) read += 1;
  } catch (error) {
    return { read, error: String(error) };
  }
  return { read };
}

test('a list of 200 pages is read whole, and a longer one fails instead of counting too few', async () => {
  expect(await pagesRead(200, 'whole')).toEqual({ read: 200 });
  expect(await pagesRead(201, 'whole')).toEqual({
    read: 200,
    error: expect.stringContaining('/cloud-credentials: the list has more than 200 pages'),
  });
});

test('of a list that the next poll continues, the first pages count', async () => {
  expect(await pagesRead(201, 'continued')).toEqual({ read: 200 });
});

import { labelValue } from '../../metrics/samples.ts';
import { SchemaError } from '../../runtime/errors.ts';
import type { ServiceRequest } from '../../transport/json-client.ts';
import type { PortalClient } from './client.ts';
import { objectOrEmpty } from './records.ts';

const MAX_PAGES = 200;

/** What happens if a list has more pages than are read: `whole` discards it; `continued` keeps the records, because the next poll continues. */
export type PagedList = 'whole' | 'continued';

/**
 * Requests pages until a response has no cursor. Throws a SchemaError if a cursor repeats, because the list would never
 * end, and if a `whole` list has more than `maxPages`.
 */
export async function* fetchPages(
  client: PortalClient,
  request: ServiceRequest,
  signal: AbortSignal,
  list: PagedList,
  maxPages = MAX_PAGES,
): AsyncGenerator<unknown> {
  const used = new Set<string>();
  let cursor = '';
  for (let page = 0; page < maxPages; page += 1) {
    const query = cursor === '' ? request.query : { ...request.query, iterator_id: cursor };
    const body = await client.send({ ...request, ...(query && { query }) }, signal);
    yield body;
    const { iterator_id: next } = objectOrEmpty(objectOrEmpty(body).metadata);
    // Not through labelValue(), because a cursor may be longer than a label.
    cursor = typeof next === 'string' ? next : labelValue(next);
    if (cursor === '') return;
    if (used.has(cursor))
      throw new SchemaError(`reading ${request.path}: metadata.iterator_id repeats; expected the pages to end`);
    used.add(cursor);
  }
  if (list === 'whole')
    throw new SchemaError(
      `reading ${request.path}: the list has more than ${maxPages} pages; expected it to end before`,
    );
}

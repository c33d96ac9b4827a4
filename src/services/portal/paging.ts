import { labelValue } from '../../metrics/samples.ts';
import { SchemaError } from '../../runtime/errors.ts';
import type { ServiceRequest } from '../../transport/json-client.ts';
import type { PortalClient } from './client.ts';
import { objectOrEmpty } from './records.ts';

const MAX_PAGES = 200;

/** What a list is worth of which only the first pages were read: nothing, or these records, because the next poll continues. */
export type PagedList = 'whole' | 'continued';

/**
 * The pages until there is no cursor. A list that does not end within `maxPages` throws a SchemaError, unless it is
 * continued later; so does a cursor that repeats, which would never end.
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
    // As it is: a cursor may be longer than any text that is kept.
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

import { isFields } from '../../metrics/family.ts';
import { text } from '../../metrics/samples.ts';
import { RequestError, ShapeError } from '../../runtime/errors.ts';
import type { ApiRequest } from '../../transport/client.ts';
import type { PortalClient } from './client.ts';

/** Pages of one list that are read at most in one poll. */
const MOST_PAGES = 200;

/**
 * The pages of a list, one after the other: the same request with the cursor of the page before, until there is none
 * (upstream-api.md 5.7). Paging goes forward only; a cursor that comes twice would never end and throws a ShapeError.
 * Ends after `mostPages` as well.
 */
export async function* pagesOf(
  client: PortalClient,
  request: ApiRequest,
  signal: AbortSignal,
  mostPages = MOST_PAGES,
): AsyncGenerator<unknown> {
  const used = new Set<string>();
  let cursor = '';
  for (let page = 0; page < mostPages; page += 1) {
    if (signal.aborted) throw new RequestError('aborted', `${request.method} ${request.path} was given up: stopping`);
    const query = cursor === '' ? request.query : { ...request.query, iterator_id: cursor };
    const body = await client.send({ ...request, ...(query && { query }) }, signal);
    yield body;
    cursor = isFields(body) && isFields(body.metadata) ? text(body.metadata.iterator_id) : '';
    if (cursor === '') return;
    if (used.has(cursor))
      throw new ShapeError(`reading ${request.path}: metadata.iterator_id came twice; expected pages to end`);
    used.add(cursor);
  }
}

import { text } from '../../metrics/samples.ts';
import { ShapeError } from '../../runtime/errors.ts';
import type { ApiRequest } from '../../transport/client.ts';
import type { PortalClient } from './client.ts';
import { fieldsIn } from './records.ts';

const MOST_PAGES = 200;

/** Until there is no cursor, at most `mostPages` times. A repeated one would never end and throws a ShapeError. */
export async function* pagesOf(
  client: PortalClient,
  request: ApiRequest,
  signal: AbortSignal,
  mostPages = MOST_PAGES,
): AsyncGenerator<unknown> {
  const used = new Set<string>();
  let cursor = '';
  for (let page = 0; page < mostPages; page += 1) {
    const query = cursor === '' ? request.query : { ...request.query, iterator_id: cursor };
    const body = await client.send({ ...request, ...(query && { query }) }, signal);
    yield body;
    cursor = text(fieldsIn(fieldsIn(body).metadata).iterator_id);
    if (cursor === '') return;
    if (used.has(cursor))
      throw new ShapeError(`reading ${request.path}: metadata.iterator_id repeats; expected the pages to end`);
    used.add(cursor);
  }
}

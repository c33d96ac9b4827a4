import type { JsonObject } from '../../metrics/family.ts';
import { labelValue } from '../../metrics/samples.ts';
import { RequestError, SchemaError } from '../../runtime/errors.ts';
import { meaningOf } from '../../runtime/failures.ts';
import type { ServiceRequest } from '../../transport/json-client.ts';
import type { PortalClient } from './client.ts';
import { objectOrEmpty } from './records.ts';

/** The requested number of records in a page. The portal documents no maximum, and sends 50 by default. */
const PAGE_SIZE = '1000';

/** The most pages and records of one poll: 20,000 records if the portal sends 50 in each page. */
const MAX_PAGES = 400;
const MAX_RECORDS = 100_000;

/**
 * Requests the pages of a list, and passes each to `onPage`, which returns the number of its records. `first` is the query of
 * the first page; without it, the list has no pages. Returns false if the list is longer than a poll reads. Throws a
 * SchemaError if a cursor repeats, because the list would never end.
 */
export async function readPages(
  client: PortalClient,
  request: ServiceRequest<JsonObject>,
  first: ServiceRequest['query'],
  signal: AbortSignal,
  onPage: (page: JsonObject) => number,
): Promise<boolean> {
  if (first === undefined) {
    onPage(await client.send(request, signal));
    return true;
  }
  const used = new Set<string>();
  let query: Readonly<Record<string, string>> = { ...first, limit: PAGE_SIZE };
  let cursor = '';
  let records = 0;
  for (let page = 0; page < MAX_PAGES && records < MAX_RECORDS; page += 1) {
    const send = () =>
      client.send({ ...request, query: cursor === '' ? query : { ...query, iterator_id: cursor } }, signal);
    const body = await send().catch((error: unknown) => {
      // The size of a page may have a maximum that is not documented.
      if (page > 0 || meaningOf(error).reason !== 'rejected') throw error;
      query = first;
      return send();
    });
    records += onPage(body);
    const { iterator_id: next } = objectOrEmpty(body.metadata);
    // Not through labelValue() alone, because a cursor may be longer than a label.
    cursor = typeof next === 'string' ? next : labelValue(next);
    if (cursor === '') return true;
    if (used.has(cursor))
      throw new SchemaError(`reading ${request.path}: metadata.iterator_id repeats; expected the pages to end`);
    used.add(cursor);
  }
  return false;
}

/** The error of a list that a poll cannot read to its end, and cannot continue in the next poll. */
export function tooLong(path: string): RequestError {
  const expected = `expected at most ${MAX_RECORDS} records in ${MAX_PAGES} pages`;
  return new RequestError('oversize', `reading GET ${path}: the list does not end; ${expected}`, {
    problem: 'long_list',
  });
}

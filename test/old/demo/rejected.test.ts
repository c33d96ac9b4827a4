// Only here: what the mock services reject, so that no test passes with a request that the services would not accept.
import { expect, test } from 'vitest';
import { ask, type Fields, serialOf, signIn, start } from './ask.ts';

const CPU = '/telemetry/appliances/{serial}/cpu_utilization';
const SNAPSHOTS = '/telemetry/volumes/{volume}/snapshot_details';

/** What is wrong, the path, the body of a POST, and the part of the request that is at fault; none where the service sends a message alone. */
const rejected: readonly (readonly [what: string, path: string, body: Fields | undefined, at: string | undefined])[] = [
  ['two types of serials', '/serials?type=edge&type=file_iq', undefined, 'query'],
  ['a type of serials that there is not', '/serials?type=toaster', undefined, 'query'],
  ['a truth that is none', '/serials?in_use=maybe', undefined, 'query'],
  ['a limit of nothing', '/notifications?limit=0', undefined, undefined],
  [
    'a range of 31 days',
    '/notifications?start_date=2026-01-01T00:00:00Z&end_date=2026-02-01T00:00:00Z',
    undefined,
    undefined,
  ],
  [
    'a cursor that nobody gave',
    '/notifications?iterator_id=00000000-0000-4000-8000-000000000000',
    undefined,
    undefined,
  ],
  ['a limit that is a word', '/notifications?limit=many', undefined, 'query'],
  ['a date that is a word', '/notifications?start_date=yesterday', undefined, 'query'],
  ['no period', CPU, {}, 'body'],
  ['a period in another form', CPU, { period: '15m' }, 'body'],
  ['a period below six minutes', CPU, { period: 'PT5M' }, 'body'],
  ['a period above thirty days', CPU, { period: 'P31D' }, 'body'],
  ['a bin below a minute', CPU, { period: 'PT15M', bin_size: 59 }, 'body'],
  ['a field that there is not', CPU, { period: 'PT15M', binsize: 60 }, 'body'],
  [
    'a bin of what is one object',
    '/telemetry/appliances/{serial}/current_appliance_performance',
    { period: 'PT30M', bin_size: 60 },
    'body',
  ],
  ['snapshots of no list of serials', SNAPSHOTS, { period: 'PT1H' }, 'body'],
  ['snapshots of a serial that is no UUID', SNAPSHOTS, { period: 'PT1H', serial_numbers: ['edge-lyon'] }, 'body'],
  ['snapshots of a period below six minutes', SNAPSHOTS, { period: 'PT5M', serial_numbers: [] }, 'body'],
  [
    'snapshots with a field of the other telemetry',
    SNAPSHOTS,
    { period: 'PT1H', serial_numbers: [], bin_size: 60 },
    'body',
  ],
];

test.each(rejected)('%s is rejected, and the response says where', async (_, template, body, at) => {
  const { mocks } = await start();
  const volume = mocks.fleet.volumes.find(({ title }) => title === 'projects');
  const path = template.replace('{serial}', serialOf(mocks, 'edge-lyon')).replace('{volume}', String(volume?.portalId));
  const { access } = await signIn(mocks);
  const { status, json } = await ask(body === undefined ? 'GET' : 'POST', `${mocks.portalUrl}${path}`, {
    headers: { authorization: `Bearer ${access}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const detail = [{ loc: [at, expect.any(String)] }];
  if (at === undefined) expect({ status, json }).toEqual({ status: 400, json: { message: expect.any(String) } });
  else expect({ status, json }).toMatchObject({ status: 422, json: { message: expect.any(String), detail } });
});
